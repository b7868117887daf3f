#include "http/file_content.h"

#include <algorithm>
#include <utility>

#include "http/entity_tag.h"

namespace gridmount::http {

FileContent::FileContent(std::shared_ptr<const gridfs::Bucket> bucket,
                         const gridfs::FilesDocument& file, std::vector<Part> parts,
                         std::string trailer)
    : bucket_(std::move(bucket)),
      id_(file.id),
      tag_(entity_tag(file)),
      chunk_bytes_(file.chunk_bytes),
      parts_(std::move(parts)),
      trailer_(std::move(trailer)) {}

uint64_t FileContent::length() const {
  uint64_t length = trailer_.size();
  for (const Part& part : parts_) {
    length += part.lead.size() + static_cast<uint64_t>(part.range.end - part.range.start);
  }
  return length;
}

Result<std::string_view> FileContent::next() {
  for (; at_ < parts_.size(); ++at_, has_sent_lead_ = false) {
    Part& part = parts_[at_];
    if (!has_sent_lead_) {
      has_sent_lead_ = true;
      if (!part.lead.empty()) return std::string_view(part.lead);
    }
    if (part.range.start < part.range.end) {
      GM_TRY(read_piece(part.range));
      part.range.start += static_cast<int64_t>(piece_.size());
      return std::string_view(piece_);
    }
  }
  piece_ = std::string();
  if (has_sent_trailer_) return std::string_view();
  has_sent_trailer_ = true;
  return std::string_view(trailer_);
}

Status FileContent::read_piece(const gridfs::ByteRange& range) {
  const int64_t end_of_chunk = (range.start / chunk_bytes_ + 1) * chunk_bytes_;
  // Several small chunks are read at once.
  const int64_t most = std::max<int64_t>(end_of_chunk, range.start + kPieceBytesMax / 2);
  const int64_t end =
      std::min({range.end, most, range.start + static_cast<int64_t>(kPieceBytesMax)});
  auto stream = bucket_->open_download_stream(id_, gridfs::ByteRange{range.start, end});
  if (!stream) {
    // The file may have become shorter.
    if (stream.error().code() != gridfs::kInvalidRange) return fail(std::move(stream).error());
    return fail(gridfs::file_changed(*bucket_, id_));
  }
  if (entity_tag((*stream)->file()) != tag_) return fail(gridfs::file_changed(*bucket_, id_));
  piece_.clear();
  piece_.reserve(static_cast<size_t>(end - range.start));
  for (;;) {
    GM_ASSIGN(const std::span<const uint8_t> bytes, (*stream)->read(kPieceBytesMax));
    if (bytes.empty()) return {};
    piece_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
}

}  // namespace gridmount::http
