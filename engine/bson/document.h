// BSON documents and their elements. A View refers to a document's bytes, and a Document owns them.
//
// This file has its own iterator. Every lookup, match and comparison iterates over a document, and
// this iterator is three times as fast as libbson's bson_iter_t. The file also has its own
// validation. libbson's validation has no limit for the depth of its recursion, so hostile bytes
// can exhaust the stack. libbson also refuses strings that are not UTF-8, although servers store
// these strings.
//
// Thread-safety: plain values. Several threads may read a view or a document at the same time.
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

// The size of the largest document that a user may store, as in MongoDB. Results and internal
// documents may be larger by up to kInternalOverhead bytes.
inline constexpr uint32_t kMaxDocumentBytes = 16 * 1024 * 1024;
inline constexpr uint32_t kInternalOverhead = 16 * 1024;
// The limit for the nesting of documents and arrays (BSONDepth::kDefaultMaxAllowableDepth of
// servers). In a message, this many levels may be below the outermost document. A computed value
// may have this many levels, including the value itself.
inline constexpr uint32_t kMaxDepth = 200;
// How many levels of documents and arrays a stored document may have, including the document itself
// (BSONDepth::getMaxDepthForUserStorage of servers).
inline constexpr uint32_t kMaxStoredDepth = 180;

// A field of a document, or an element of an array. Both members refer to the document's bytes.
struct Element {
  std::string_view key;
  ValueView value;
};

// A document whose bytes another object owns. The bytes must outlive the view. A View is two words,
// so pass it by value.
class View {
 public:
  View();  // the empty document
  // `data` must point to a complete, validated document: its length, its elements and the final
  // NUL.
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

  // Returns the value of the first element with exactly this name, or nothing. A dot in the name is
  // an ordinary character: for dotted paths see dotted_path.h.
  std::optional<ValueView> find(std::string_view key) const;
  // Like find(), for a name that the document has. Must be called only if the document certainly
  // has the name: otherwise an assertion fails, or with NDEBUG the result is null.
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
  // The bytes must be a complete, validated document. This is not checked.
  explicit Document(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {}

  View view() const { return View(bytes_.data(), static_cast<uint32_t>(bytes_.size())); }
  // NOLINTNEXTLINE(google-explicit-constructor): a Document is accepted wherever a View is.
  operator View() const { return view(); }
  std::optional<ValueView> find(std::string_view key) const { return view().find(key); }

  // Moves the bytes out of the document. Afterwards the document has no bytes, so it can only be
  // assigned or destroyed.
  std::vector<uint8_t> release() && { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

// Returns the size of the value at `data`, which has the type `type` and has been validated.
uint32_t value_bytes(Type type, const uint8_t* data);

// Returns whether documents and arrays are nested at least `levels` deep below `document`. Skips
// values that are too small for this nesting, and descends no deeper than `levels`.
bool is_nested(View document, uint32_t levels);

// Checks bytes of unknown origin. The bytes must be exactly one document, with at most `max_bytes`
// bytes and a depth of at most kMaxDepth. All its lengths, element types, booleans and final NULs
// must be correct. Strings need not be valid UTF-8, because drivers send strings as programs give
// them. Fails with Overflow if the document is nested too deeply, with BSONObjectTooLarge if there
// are more than `max_bytes` bytes, and with InvalidBSON for any other defect. The messages of
// InvalidBSON and Overflow name the offset. The View refers to `bytes`, and every function of this
// folder accepts it.
Result<View> validate(std::span<const uint8_t> bytes,
                      uint32_t max_bytes = kMaxDocumentBytes + kInternalOverhead);

}  // namespace gridmount::bson
