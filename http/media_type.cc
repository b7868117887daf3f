#include "http/media_type.h"

#include <algorithm>
#include <array>
#include <utility>

#include "http/request.h"

namespace gridmount::http {

namespace {

constexpr std::string_view kUnknown = "application/octet-stream";
constexpr size_t kTypeBytesMax = 255;

constexpr std::array<std::pair<std::string_view, std::string_view>, 46> kTypes{{
    {"7z", "application/x-7z-compressed"},
    {"aac", "audio/aac"},
    {"avi", "video/x-msvideo"},
    {"avif", "image/avif"},
    {"bmp", "image/bmp"},
    {"bz2", "application/x-bzip2"},
    {"c", "text/plain; charset=utf-8"},
    {"cc", "text/plain; charset=utf-8"},
    {"css", "text/css; charset=utf-8"},
    {"csv", "text/csv; charset=utf-8"},
    {"epub", "application/epub+zip"},
    {"flac", "audio/flac"},
    {"gif", "image/gif"},
    {"gz", "application/gzip"},
    {"h", "text/plain; charset=utf-8"},
    {"htm", "text/html; charset=utf-8"},
    {"html", "text/html; charset=utf-8"},
    {"ico", "image/vnd.microsoft.icon"},
    {"jpeg", "image/jpeg"},
    {"jpg", "image/jpeg"},
    {"js", "text/javascript; charset=utf-8"},
    {"json", "application/json"},
    {"log", "text/plain; charset=utf-8"},
    {"m4a", "audio/mp4"},
    {"md", "text/markdown; charset=utf-8"},
    {"mjs", "text/javascript; charset=utf-8"},
    {"mkv", "video/x-matroska"},
    {"mov", "video/quicktime"},
    {"mp3", "audio/mpeg"},
    {"mp4", "video/mp4"},
    {"ogg", "audio/ogg"},
    {"pdf", "application/pdf"},
    {"png", "image/png"},
    {"py", "text/plain; charset=utf-8"},
    {"svg", "image/svg+xml"},
    {"tar", "application/x-tar"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"txt", "text/plain; charset=utf-8"},
    {"wav", "audio/wav"},
    {"webm", "video/webm"},
    {"webp", "image/webp"},
    {"xhtml", "application/xhtml+xml"},
    {"xml", "application/xml"},
    {"zip", "application/zip"},
    {"zst", "application/zstd"},
}};

// Returns true if the text can be the value of a field: TYPE/SUBTYPE and perhaps parameters, with
// nothing that could begin another field.
bool has_form_of_type(std::string_view text) {
  if (text.empty() || text.size() > kTypeBytesMax) return false;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; })) {
    return false;
  }
  const std::string_view essence = trimmed(text.substr(0, text.find(';')));
  const size_t slash = essence.find('/');
  constexpr std::string_view kToken =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~/";
  return slash != 0 && slash != std::string_view::npos && slash + 1 < essence.size() &&
         essence.find('/', slash + 1) == std::string_view::npos &&
         essence.find_first_not_of(kToken) == std::string_view::npos;
}

}  // namespace

std::string media_type_of(const std::optional<std::string>& recorded, std::string_view name) {
  if (recorded && has_form_of_type(*recorded)) return *recorded;
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::string(kUnknown);
  const std::string_view extension = name.substr(dot + 1);
  for (const auto& [known, type] : kTypes) {
    if (equals_ignoring_case(known, extension)) return std::string(type);
  }
  return std::string(kUnknown);
}

bool may_have_scripts(std::string_view media_type) {
  const std::string_view essence = trimmed(media_type.substr(0, media_type.find(';')));
  constexpr std::string_view kXml = "xml";
  return equals_ignoring_case(essence, "text/html") ||
         (essence.size() >= kXml.size() &&
          equals_ignoring_case(essence.substr(essence.size() - kXml.size()), kXml));
}

}  // namespace gridmount::http
