// BSON documents, as views and owned, and their elements.
//
// Documents are walked here and not by libbson's bson_iter_t, because every lookup, match and
// comparison walks a document, and a step here takes a third of the time of a step there.
// Validation is here as well, because libbson's recurses as deep as hostile bytes make it, and it
// refuses strings that are not UTF-8, which servers store.
//
// Thread-safety: values. Views and documents may be read by several threads at once.
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

// The largest document that a user may store, as in MongoDB. Results and internal documents may
// exceed it by kInternalOverhead.
inline constexpr uint32_t kMaxDocumentBytes = 16 * 1024 * 1024;
inline constexpr uint32_t kInternalOverhead = 16 * 1024;
// The most levels of documents and arrays below the outermost document, in messages and in computed
// values (BSONDepth::kDefaultMaxAllowableDepth of servers).
inline constexpr uint32_t kMaxDepth = 200;
// The most levels of documents and arrays in a stored document, counting the document itself
// (BSONDepth::getMaxDepthForUserStorage of servers).
inline constexpr uint32_t kMaxStoredDepth = 180;

struct Element {
  std::string_view key;
  ValueView value;
};

// A document whose bytes are owned by somebody else. Two words; pass by value.
class View {
 public:
  View();  // the empty document
  // `data` must point to a complete, validated document: length, elements, NUL.
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
    // `at` points to the type byte of an element, or to the final NUL of the document.
    void read(const uint8_t* at);

    Element element_{{}, ValueView(Type::kNull, nullptr, 0)};
    bool at_end_ = true;
  };
  Iterator begin() const { return Iterator(*this); }
  Iterator end() const { return Iterator(); }

  // Returns the first element with exactly this name (not a dot path; see dotted_path.h).
  std::optional<ValueView> find(std::string_view key) const;
  // Like find(), for a name that the caller knows to be present. Asserts presence. For documents
  // that this program has built.
  ValueView operator[](std::string_view key) const;

 private:
  const uint8_t* data_;
  uint32_t size_;
};

// A document that owns its bytes. A move is cheap, and a copy copies the bytes.
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

// Returns the size of the value of that type at `data`, in validated BSON.
uint32_t value_bytes(Type type, const uint8_t* data);

// Returns whether documents and arrays are nested at least `levels` deep below `document`. Skips
// values that are too small for that, and descends at most `levels` deep.
bool is_nested(View document, uint32_t levels);

// Checks bytes of unknown origin: lengths, element types, NUL termination, depth up to kMaxDepth,
// and that `bytes` hold exactly one document of at most `max_bytes`. Strings need not be valid
// UTF-8, because drivers store what they are given. Fails with InvalidBSON, Overflow (nesting) or
// BSONObjectTooLarge. The messages of the first two name the offset. A validated view may be passed
// to every function of this folder.
Result<View> validate(std::span<const uint8_t> bytes,
                      uint32_t max_bytes = kMaxDocumentBytes + kInternalOverhead);

}  // namespace gridmount::bson
