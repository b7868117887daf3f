// BSON documents, seen and owned, and their elements.
//
// Walking validated bytes is done here and not by libbson's bson_iter_t: every lookup, match and
// comparison rests on it, and a step costs a third. Validation is here as well, because libbson's
// recurses as deep as hostile bytes ask it to and refuses strings that are not UTF-8, which servers
// store.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/value.h"

namespace gridmount::bson {

// The largest document a user may store, as MongoDB's; results and internal documents may exceed it
// by kInternalOverhead.
inline constexpr uint32_t kMaxDocumentBytes = 16 * 1024 * 1024;
inline constexpr uint32_t kInternalOverhead = 16 * 1024;
// How many documents and arrays may stand in one another below the outermost document, in messages
// and in what is computed (BSONDepth::kDefaultMaxAllowableDepth of servers).
inline constexpr uint32_t kMaxDepth = 200;
// How many may stand in one another in a stored document, the document itself counted
// (BSONDepth::getMaxDepthForUserStorage of servers).
inline constexpr uint32_t kMaxStoredDepth = 180;

struct Element {
  std::string_view key;
  ValueView value;
};

// A document that somebody else keeps alive. Two words; pass by value.
class View {
 public:
  View();  // the empty document
  // `data` points at a whole validated document: length, elements, NUL.
  explicit View(const uint8_t* data, uint32_t size) : data_(data), size_(size) {}

  const uint8_t* data() const { return data_; }
  uint32_t size() const { return size_; }
  std::span<const uint8_t> bytes() const { return {data_, size_}; }
  bool empty() const { return size_ <= 5; }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Element;
    using difference_type = std::ptrdiff_t;
    using pointer = const Element*;
    using reference = Element;

    Iterator() = default;  // the end
    explicit Iterator(View view) { read(view.data() + 4); }
    Element operator*() const { return element_; }
    Iterator& operator++() {
      read(element_.value.data() + element_.value.size());
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_end_ == b.at_end_; }

   private:
    // `at`: an element's type, or the document's final NUL.
    void read(const uint8_t* at);

    Element element_{{}, ValueView(Type::kNull, nullptr, 0)};
    bool at_end_ = true;
  };
  Iterator begin() const { return Iterator(*this); }
  Iterator end() const { return Iterator(); }

  // The first element of that exact name (no dot path; see path.h).
  std::optional<ValueView> find(std::string_view key) const;
  // The same, asserting presence is the caller's knowledge; used with documents built here.
  ValueView operator[](std::string_view key) const;

 private:
  const uint8_t* data_;
  uint32_t size_;
};

// A document that owns its bytes. Moves are cheap, copies copy.
class Document {
 public:
  Document();  // empty
  explicit Document(View view) : bytes_(view.data(), view.data() + view.size()) {}
  explicit Document(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}

  View view() const { return View(bytes_.data(), static_cast<uint32_t>(bytes_.size())); }
  // NOLINTNEXTLINE(google-explicit-constructor): a Document is accepted wherever a View is.
  operator View() const { return view(); }
  std::optional<ValueView> find(std::string_view key) const { return view().find(key); }

  std::vector<uint8_t> release() && { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

// The number of bytes of the value of that type that begins at `data`, in validated BSON.
uint32_t value_bytes(Type type, const uint8_t* data);

// Whether at least `levels` documents and arrays stand in one another below `document`. Reads no
// value that is too small for that, and goes at most `levels` deep.
bool is_nested(View document, uint32_t levels);

// Checks bytes of unknown origin: lengths, element types, NUL termination, depth up to kMaxDepth,
// and that `bytes` hold exactly one document of at most `max_bytes`. Strings need not be valid
// UTF-8 (drivers store what they are given). InvalidBSON, Overflow (nesting) or BSONObjectTooLarge
// otherwise, naming the offset. A view that passed may be used with every function of this folder.
Result<View> validate(std::span<const uint8_t> bytes,
                      uint32_t max_bytes = kMaxDocumentBytes + kInternalOverhead);

}  // namespace gridmount::bson
