#include "http/file_reply.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "http/byte_ranges.h"
#include "http/entity_tag.h"
#include "http/file_content.h"
#include "http/http_date.h"
#include "http/media_type.h"
#include "http/preconditions.h"
#include "http/target.h"

namespace gridmount::http {

namespace {

int64_t modified_seconds(const gridfs::FilesDocument& file) {
  return (file.posix.mtime ? *file.posix.mtime : gridfs::to_timespec(file.upload_date)).tv_sec;
}

// The name in ASCII for old clients, and in full (RFC 6266).
std::string disposition_of(const std::string& name) {
  std::string plain;
  for (const char c : name) plain += c < ' ' || c > '~' || c == '"' || c == '\\' ? '_' : c;
  return fmt::format("attachment; filename=\"{}\"; filename*=UTF-8''{}", plain,
                     percent_encoded(name));
}

std::string content_range(const gridfs::ByteRange& range, int64_t length) {
  return fmt::format("bytes {}-{}/{}", range.start, range.end - 1, length);
}

// The parts of a reply of type multipart/byteranges (RFC 9110, 14.6). The boundary contains the
// tag. If a line of the content begins with the boundary, this does no harm: clients use the
// lengths in Content-Range, and the author of the content does not know the tag in advance.
std::vector<FileContent::Part> multipart(const std::vector<gridfs::ByteRange>& ranges,
                                         const std::string& boundary, const std::string& type,
                                         int64_t length) {
  std::vector<FileContent::Part> parts;
  for (const gridfs::ByteRange& range : ranges) {
    parts.push_back(
        {fmt::format("{}--{}\r\nContent-Type: {}\r\nContent-Range: {}\r\n\r\n",
                     parts.empty() ? "" : "\r\n", boundary, type, content_range(range, length)),
         range});
  }
  return parts;
}

std::string boundary_of(std::string_view tag) {
  return "gridmount-" + std::string(tag.substr(1, tag.size() - 2));
}

}  // namespace

Reply file_reply(const Request& request, const FileSource& source) {
  const gridfs::FilesDocument& file = source.file;
  const Validators validators{entity_tag(file), modified_seconds(file)};
  const bool is_head = request.method == Request::Method::kHead;
  Reply reply;
  const auto add_validators = [&] {
    reply.add("ETag", validators.tag);
    reply.add("Last-Modified", http_date(validators.modified_seconds));
    reply.add("Cache-Control", "no-cache");
  };
  switch (evaluate_conditions(request, validators)) {
    case Verdict::kPerform:
      break;
    case Verdict::kNotModified:
      reply.status = 304;
      reply.length = std::nullopt;
      add_validators();
      return reply;
    case Verdict::kFailed:
      reply = refusal(412, "the file is another one", is_head);
      reply.add("ETag", validators.tag);
      return reply;
  }

  SelectedRanges selected;
  const std::optional<std::string> wanted = request.field("Range");
  if (wanted && !is_head && is_range_wanted(request, validators)) {
    selected = select_ranges(*wanted, file.length);
  }
  if (selected.kind == SelectedRanges::Kind::kNotSatisfiable) {
    reply = refusal(416, fmt::format("the file has {} bytes", file.length), is_head);
    reply.add("Content-Range", fmt::format("bytes */{}", file.length));
    return reply;
  }

  const std::string type = media_type_of(file.content_type, source.name);
  std::vector<FileContent::Part> parts;
  std::string trailer;
  std::string whole_type = type;
  if (selected.kind == SelectedRanges::Kind::kWhole) {
    parts.push_back({"", {0, file.length}});
  } else if (selected.ranges.size() == 1) {
    reply.status = 206;
    parts.push_back({"", selected.ranges[0]});
    reply.add("Content-Range", content_range(selected.ranges[0], file.length));
  } else {
    reply.status = 206;
    const std::string boundary = boundary_of(validators.tag);
    whole_type = "multipart/byteranges; boundary=" + boundary;
    parts = multipart(selected.ranges, boundary, type, file.length);
    trailer = "\r\n--" + boundary + "--\r\n";
  }
  add_validators();
  reply.add("Accept-Ranges", "bytes");
  reply.add("Content-Type", whole_type);
  reply.add("X-Content-Type-Options", "nosniff");
  reply.add("Cross-Origin-Resource-Policy", "same-origin");
  // A page in the store must not have the server's origin, because scripts in the page could then
  // read the other files.
  if (may_have_scripts(type)) reply.add("Content-Security-Policy", "sandbox");
  if (source.as_attachment) reply.add("Content-Disposition", disposition_of(source.name));
  auto content =
      std::make_unique<FileContent>(source.bucket, file, std::move(parts), std::move(trailer));
  reply.length = content->length();
  if (!is_head) reply.body = std::move(content);
  return reply;
}

}  // namespace gridmount::http
