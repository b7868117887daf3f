#include "tools/gridstore/check/file_check.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "engine/base/counted.h"
#include "engine/bson/json.h"

namespace gridmount::tools {

namespace {

constexpr size_t kShownChunks = 5;
// Holes are hashed as zeros if they are not larger than this, which takes a few minutes, or than
// the content before them. A mount gives no md5 to a file that is mostly a hole (stored_md5.h).
constexpr int64_t kHashedHoleBytesMax = int64_t{64} << 30;

std::string range_text(int64_t first, int64_t last) {
  if (first == last) return std::to_string(first);
  return std::to_string(first) + " to " + std::to_string(last);
}

bool is_md5(std::string_view text) {
  return text.size() == 32 && std::all_of(text.begin(), text.end(), [](char c) {
           return std::isxdigit(static_cast<unsigned char>(c)) != 0;
         });
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

void FileCheck::ChunkProblem::add(std::string words, uint64_t count) {
  count_ += count;
  if (first_.size() == kShownChunks) return;
  first_.push_back(std::move(words));
  shown_ += count;
}

std::string FileCheck::ChunkProblem::text() const {
  std::string text;
  for (const std::string& words : first_) text += (text.empty() ? "" : ", ") + words;
  if (count_ > shown_) text += " and " + std::to_string(count_ - shown_) + " more";
  return text;
}

FileCheck::FileCheck(Findings& findings, Location place, bson::View document, Garbage garbage)
    : findings_(findings), place_(std::move(place)), garbage_(garbage) {
  place_.file_id = bson::Value(document["_id"]);
  auto filename = document.find("filename");
  if (filename && filename->type() == bson::Type::kString) place_.filename = filename->as_string();
  check_document(document);
}

void FileCheck::problem(bool FileVerdict::*about, const std::string& what) {
  verdict_.*about = true;
  verdict_.problems.push_back(what);
  findings_.content_problem(place_, what);
}

void FileCheck::check_document(bson::View document) {
  auto parsed = gridfs::FilesDocument::parse(document);
  if (!parsed) {
    problem(&FileVerdict::content, parsed.error().message());
    return;
  }
  file_ = std::move(parsed).value();
  auto upload_date = document.find("uploadDate");
  if (!upload_date || upload_date->type() != bson::Type::kDate) {
    problem(&FileVerdict::upload_date, "uploadDate is missing or not a date");
  }
  if (file_->sparse) {
    if (auto stored = document["metadata"].as_document().find("storedChunks")) {
      stored_chunks_ = bson::to_json(*stored, bson::JsonForm::kRelaxed);
    }
  }
  auto md5 = document.find("md5");
  if (!md5 || md5->type() == bson::Type::kNull) return;
  if (md5->type() == bson::Type::kString && is_md5(md5->as_string())) {
    file_->md5 = lower_case(std::string(md5->as_string()));
    if (gridfs::Md5::available()) md5_.emplace();
  } else {
    problem(&FileVerdict::md5, "md5 is not 32 hexadecimal digits");
  }
}

int64_t FileCheck::expected_bytes(int64_t n) const {
  return std::min<int64_t>(file_->chunk_bytes, file_->length - n * file_->chunk_bytes);
}

// Handles the missing chunks from next_n_ up to but not including `until`.
void FileCheck::pass_gap(int64_t until) {
  if (next_n_ >= until) return;
  if (!file_->sparse) {
    missing_.add(range_text(next_n_, until - 1), static_cast<uint64_t>(until - next_n_));
    md5_.reset();
  } else if (md5_) {
    hash_hole((until - 1 - next_n_) * file_->chunk_bytes + expected_bytes(until - 1));
  }
  next_n_ = until;
}

void FileCheck::hash_hole(int64_t bytes) {
  static constexpr std::array<uint8_t, 64 * 1024> kZeros{};
  const auto allowed = std::max(kHashedHoleBytesMax, static_cast<int64_t>(bytes_));
  if (bytes > allowed - hashed_hole_bytes_) {
    md5_.reset();
    findings_.notice(place_, "its md5 was not checked, because the holes are too large");
    return;
  }
  hashed_hole_bytes_ += bytes;
  for (int64_t left = bytes; left > 0;) {
    const auto step = static_cast<size_t>(std::min<int64_t>(left, kZeros.size()));
    md5_->update(std::span(kZeros).first(step));
    left -= static_cast<int64_t>(step);
  }
}

void FileCheck::add_chunk(bson::View chunk) {
  if (!file_) {
    ++chunks_without_file_;
    return;
  }
  auto n = chunk.find("n");
  auto number = n ? n->integral() : std::nullopt;
  if (!number) {
    unreadable_.add("one with a wrong n");
    return;
  }
  if (*number < 0 || *number >= file_->chunk_count()) {
    if (*number >= garbage_.from && *number < garbage_.to) {
      ++garbage_chunks_;
      return;
    }
    beyond_end_.add(std::to_string(*number));
    auto data = chunk.find("data");
    if (data && data->type() == bson::Type::kBinary) bytes_ += data->as_binary().size;
    return;
  }
  if (*number < next_n_) {
    duplicate_.add(std::to_string(*number));
    return;
  }
  pass_gap(*number);
  add_data(*number, chunk);
  ++verdict_.chunks;
  next_n_ = *number + 1;
}

void FileCheck::add_data(int64_t n, bson::View chunk) {
  auto data = chunk.find("data");
  if (!data || data->type() != bson::Type::kBinary) {
    unreadable_.add(std::to_string(n) + " without binary data");
    md5_.reset();
    return;
  }
  bson::Binary binary = data->as_binary();
  bytes_ += binary.size;
  int64_t expected = expected_bytes(n);
  if (binary.size != expected) {
    wrong_size_.add(std::to_string(n) + " is " + (binary.size < expected ? "short" : "too long") +
                    " (" + counted(binary.size, "byte") + " instead of " +
                    std::to_string(expected) + ")");
    md5_.reset();
  } else if (md5_) {
    md5_->update({binary.data, binary.size});
  }
}

void FileCheck::finish() {
  if (!file_) {
    if (chunks_without_file_ > 0) {
      problem(&FileVerdict::content, counted(chunks_without_file_, "chunk") +
                                         " could not be checked without a usable files document");
    }
    return;
  }
  pass_gap(file_->chunk_count());
  if (missing_.any()) problem(&FileVerdict::content, "missing chunks: " + missing_.text());
  if (wrong_size_.any())
    problem(&FileVerdict::content, "chunks of a wrong size: " + wrong_size_.text());
  if (duplicate_.any())
    problem(&FileVerdict::content, "several chunks with the same n: " + duplicate_.text());
  if (beyond_end_.any())
    problem(&FileVerdict::content, "chunks beyond the end: " + beyond_end_.text());
  if (garbage_chunks_ > 0) {
    findings_.notice(place_, "was cut; the next mount or put will remove its " +
                                 counted(garbage_chunks_, "chunk") + " beyond the end");
  }
  if (unreadable_.any()) problem(&FileVerdict::content, "unusable chunks: " + unreadable_.text());
  if (!file_->sparse && bytes_ != static_cast<uint64_t>(file_->length)) {
    problem(&FileVerdict::content, "length is " + std::to_string(file_->length) +
                                       ", but its chunks hold " + counted(bytes_, "byte"));
  }
  if (stored_chunks_ && file_->stored_chunks != verdict_.chunks) {
    problem(&FileVerdict::stored_chunks,
            "metadata.storedChunks is " + *stored_chunks_ + ", but " +
                counted(verdict_.chunks, "of its chunks is", "of its chunks are") + " there");
  }
  if (md5_) {
    std::string actual = md5_->hex();
    if (actual != *file_->md5) {
      problem(&FileVerdict::md5, "md5 is " + *file_->md5 + ", but the content's is " + actual);
    }
  }
}

}  // namespace gridmount::tools
