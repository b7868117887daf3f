// Goal: whatever clients send in targets and fields, paths lead nowhere but down, ranges stay
// within the file, and texts do no harm in pages, JSON and fields. Method: runs each parser of
// http/ on the same bytes, and checks its result.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/bson/json.h"
#include "http/byte_ranges.h"
#include "http/entity_tag.h"
#include "http/host_names.h"
#include "http/http_date.h"
#include "http/listing.h"
#include "http/media_type.h"
#include "http/target.h"

namespace gridmount::http {
namespace {

void expect(bool holds) {
  if (!holds) std::abort();
}

void check_target(std::string_view text) {
  const Result<Target> target = parse_target(text);
  if (!target) return;
  for (const std::string& component : target->components) {
    expect(!component.empty() && component != "." && component != "..");
    expect(component.find('/') == std::string::npos && component.find('\0') == std::string::npos);
  }
  const Result<Target> again = parse_target(path_of(target->components));
  expect(again && again->components == target->components);
}

void check_ranges(std::string_view text, int64_t length) {
  const SelectedRanges selected = select_ranges(text, length);
  expect(selected.ranges.size() <= kRangesMax);
  expect(selected.ranges.empty() == (selected.kind != SelectedRanges::Kind::kPart));
  int64_t left = length;
  for (const gridfs::ByteRange& range : selected.ranges) {
    expect(range.start >= 0 && range.start < range.end && range.end <= length);
    left -= range.end - range.start;
    expect(left >= 0);
  }
}

void check_texts(std::string_view text) {
  expect(html_text(text).find_first_of("<>\"'") == std::string::npos);
  expect(bson::document_from_json("{\"a\": " + json_text(text) + "}").has_value());
  for (const char c : media_type_of(std::string(text), text)) expect(c >= ' ' && c <= '~');
}

void check_conditions(std::string_view text) {
  // A strong comparison finds no more than a weak one.
  const std::string tag = "\"a\"";
  expect(!has_tag(text, tag, TagComparison::kStrong) || has_tag(text, tag, TagComparison::kWeak));
  if (const auto seconds = parse_http_date(text)) {
    // The leap second after the last date has no date of its own.
    constexpr int64_t kSecondsMax = 253402300799;
    expect(*seconds > kSecondsMax || parse_http_date(http_date(*seconds)) == *seconds);
  }
  (void)HostNames({}).allows(text);
}

}  // namespace
}  // namespace gridmount::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace gridmount::http;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_target(text);
  check_ranges(text, size == 0 ? 0 : data[0]);
  check_ranges("bytes=" + std::string(text), INT64_MAX);
  check_texts(text);
  check_conditions(text);
  return 0;
}
