// The document that tells why something does not match, while it is written: for
// Filter::explain_failure(). Internal to this folder.
#pragma once

#include <string_view>

#include "engine/bson/builder.h"

namespace gridmount::query {

class FailureBuilder {
 public:
  enum class Values { kShown, kLeftOut };

  explicit FailureBuilder(Values values) : values_(values) {}

  // Where an element goes next; open documents and arrays are its.
  bson::Builder& out() { return out_; }
  // Values of documents and operands, which may be large: left out if they are not to be shown.
  void append_value(std::string_view name, bson::ValueView value);
  void append_values(std::string_view name, bson::View elements);

  // From some size on values are left out. What is written is then of no use.
  bool too_large() const { return too_large_ || out_.size() > kBytesMax; }
  bson::Document finish() && { return std::move(out_).finish(); }

 private:
  // With room for what a reply says beside it.
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
