// Builds the document of Filter::explain_failure(). Internal to engine/query. Not thread-safe.
#pragma once

#include <string_view>

#include "engine/bson/builder.h"

namespace gridmount::query {

class FailureBuilder {
 public:
  enum class Values { kShown, kLeftOut };

  explicit FailureBuilder(Values values) : values_(values) {}

  // Returns the builder to append to. Documents and arrays may be open in it.
  bson::Builder& out() { return out_; }
  // These functions append values of the explained document or of operands, which may be large.
  // They append nothing with Values::kLeftOut, and nothing that would make the explanation too
  // large.
  void append_value(std::string_view name, bson::ValueView value);
  void append_values(std::string_view name, bson::View elements);

  // Returns whether the explanation is too large, or lacks a value for which it had no room. The
  // caller must then build it again with Values::kLeftOut.
  bool too_large() const { return too_large_ || out_.size() > kBytesMax; }
  bson::Document finish() && { return std::move(out_).finish(); }

 private:
  // Leaves room for the other fields of a reply.
  static constexpr uint32_t kBytesMax = 12 * 1024 * 1024;

  bool has_room(uint32_t bytes);

  Values values_;
  bson::Builder out_;
  bool too_large_ = false;
};

inline bool FailureBuilder::has_room(uint32_t bytes) {
  if (values_ == Values::kLeftOut) return false;
  too_large_ = too_large_ || out_.size() > kBytesMax || bytes > kBytesMax - out_.size();
  return !too_large_;
}

inline void FailureBuilder::append_value(std::string_view name, bson::ValueView value) {
  if (has_room(value.size())) out_.append(name, value);
}

inline void FailureBuilder::append_values(std::string_view name, bson::View elements) {
  if (has_room(elements.size())) out_.append_array(name, elements);
}

}  // namespace gridmount::query
