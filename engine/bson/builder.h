// Builds documents and arrays element by element.
//
//   Builder b;
//   b.append("_id", id).append("n", int32_t{5});
//   b.open_document("metadata").append("mode", int32_t{0644}).close();
//   Document d = std::move(b).finish();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/document.h"
#include "engine/bson/element_bytes.h"
#include "engine/bson/value.h"

namespace gridmount::bson {

// Not thread-safe. Bytes are written directly into the vector that the Document then owns. With a
// bson_t they would have to be copied once more, which for a chunk costs as much as building it.
// Asserts that keys hold no NUL, and that every open is closed.
class Builder {
 public:
  Builder();

  Builder& append(std::string_view key, ValueView value);
  Builder& append(std::string_view key, const Value& value) { return append(key, value.view()); }
  Builder& append(std::string_view key, View document);  // as kDocument
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

  // Nesting: elements go into the innermost open document or array until close(). In an array the
  // builder makes the keys "0", "1", ...: use the push functions there.
  Builder& open_document(std::string_view key);
  Builder& open_array(std::string_view key);
  Builder& push(ValueView value);
  Builder& push(View document);
  Builder& push_open_document();
  Builder& push_open_array();
  Builder& close();

  // Allocates the memory for `bytes` in total at once. Without this call the buffer doubles as the
  // document grows, and the old buffer exists beside the new one until it has been copied.
  void reserve(size_t bytes) { bytes_.reserve(bytes); }

  // The number of bytes so far, for callers that must stay below kMaxDocumentBytes.
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
