// Builds documents and arrays element by element.
//
//   Builder b;
//   b.append("_id", id).append("n", int32_t{5});
//   b.open_document("metadata").append("mode", int32_t{0644}).close();
//   Document d = std::move(b).finish();
//
// Thread-safety: a Builder is not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/document.h"
#include "engine/bson/element_bytes.h"
#include "engine/bson/value.h"

namespace gridmount::bson {

// The builder writes directly into the vector that the Document will own. A bson_t would need one
// more copy of the bytes, which for a chunk costs as much as building the document. The builder
// asserts that keys and the parts of regular expressions have no NUL, and that every open document
// or array is closed. Values are copied, so the arguments need not outlive the call.
class Builder {
 public:
  Builder();

  Builder& append(std::string_view key, ValueView value);
  Builder& append(std::string_view key, const Value& value) { return append(key, value.view()); }
  Builder& append(std::string_view key, View document);  // with the type kDocument
  Builder& append(std::string_view key, const Document& document) {
    return append(key, document.view());
  }
  Builder& append(std::string_view key, std::string_view text);
  Builder& append(std::string_view key, const std::string& text) {
    return append(key, std::string_view(text));
  }
  Builder& append(std::string_view key, const char* text) {
    return append(key, std::string_view(text));
  }
  Builder& append(std::string_view key, double value);
  Builder& append(std::string_view key, bool value);
  Builder& append(std::string_view key, int32_t value);
  Builder& append(std::string_view key, int64_t value);
  Builder& append(std::string_view key, ObjectId id);
  Builder& append(std::string_view key, Date date);
  Builder& append(std::string_view key, Timestamp timestamp);
  Builder& append(std::string_view key, Decimal128 value);
  Builder& append(std::string_view key, Binary binary);
  Builder& append_array(std::string_view key, View elements);
  Builder& append_regex(std::string_view key, std::string_view pattern, std::string_view options);
  Builder& append_null(std::string_view key);
  // Appends all elements of `document` in order.
  Builder& append_all(View document);

  // Nesting: until close(), elements go into the document or array that was opened last. The push
  // functions append to an array, and make its keys "0", "1", and so on.
  Builder& open_document(std::string_view key);
  Builder& open_array(std::string_view key);
  Builder& push(ValueView value);
  Builder& push(View document);
  Builder& push_open_document();
  Builder& push_open_array();
  Builder& close();

  // Allocates memory for a document of `bytes` bytes. Without this call the buffer is doubled
  // whenever it is full, and memory must have room for the old and the new buffer during the copy.
  void reserve(size_t bytes) { bytes_.reserve(bytes); }

  // Returns the number of bytes so far, without the NUL that will end each open document or array.
  // Callers that must stay below kMaxDocumentBytes use it.
  uint32_t size() const { return static_cast<uint32_t>(bytes_.size()); }

  // Ends the document. The builder must not be used afterwards.
  Document finish() &&;

 private:
  // A document or array that is still open.
  struct Level {
    size_t begin;  // offset of its length field
    bool is_array;
    uint32_t next = 0;  // the key of an array's next element
  };

  void append_bytes(const void* data, size_t size);
  // Appends type and key. The caller appends the value's bytes next.
  Builder& begin_element(Type type, std::string_view key);
  void open(Type type, std::string_view key);
  template <typename T>
  Builder& append_fixed(Type type, std::string_view key, T value);
  // Returns the next key of the innermost array.
  std::string_view next_key();

  std::vector<uint8_t> bytes_;
  std::vector<Level> open_;
  ArrayKey array_key_;
};

}  // namespace gridmount::bson
