#include "http/byte_ranges.h"

#include <charconv>
#include <limits>
#include <optional>

#include "http/request.h"

namespace gridmount::http {

namespace {

// Returns the number that the digits represent, or the largest int64_t if the number does not fit.
// Returns nothing if the text has anything but digits.
std::optional<int64_t> number_of(std::string_view digits) {
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc::result_out_of_range) return std::numeric_limits<int64_t>::max();
  return number;
}

// One range of the field. Its bytes may all be beyond the end.
struct Spec {
  bool is_valid = false;
  gridfs::ByteRange range;
};

Spec parse_spec(std::string_view text, int64_t length) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return {};
  const std::string_view first = text.substr(0, dash);
  const std::string_view last = text.substr(dash + 1);
  if (first.empty()) {
    const std::optional<int64_t> suffix = number_of(last);
    if (!suffix) return {};
    return {true, {length - std::min(*suffix, length), length}};
  }
  const std::optional<int64_t> begin = number_of(first);
  if (!begin) return {};
  if (last.empty()) return {true, {*begin, length}};
  const std::optional<int64_t> end = number_of(last);
  if (!end || *end < *begin) return {};
  return {true, {*begin, *end >= length ? length : *end + 1}};
}

}  // namespace

SelectedRanges select_ranges(std::string_view field, int64_t length) {
  constexpr std::string_view kUnit = "bytes=";
  SelectedRanges selected;
  field = trimmed(field);
  if (field.size() < kUnit.size() || !equals_ignoring_case(field.substr(0, kUnit.size()), kUnit)) {
    return selected;
  }
  field.remove_prefix(kUnit.size());
  size_t count = 0;
  int64_t bytes = 0;
  std::vector<gridfs::ByteRange> ranges;
  for (bool is_last = false; !is_last;) {
    const size_t comma = field.find(',');
    is_last = comma == std::string_view::npos;
    const std::string_view text = trimmed(field.substr(0, comma));
    if (!is_last) field.remove_prefix(comma + 1);
    if (text.empty()) continue;
    const Spec spec = parse_spec(text, length);
    if (!spec.is_valid || ++count > kRangesMax) return selected;
    if (spec.range.start >= spec.range.end) continue;
    // `bytes` is at most `length` here, so the difference is not negative.
    if (spec.range.end - spec.range.start > length - bytes) return selected;
    bytes += spec.range.end - spec.range.start;
    ranges.push_back(spec.range);
  }
  if (count == 0) return selected;
  selected.kind =
      ranges.empty() ? SelectedRanges::Kind::kNotSatisfiable : SelectedRanges::Kind::kPart;
  selected.ranges = std::move(ranges);
  return selected;
}

}  // namespace gridmount::http
