// The document a stage makes, in memory that serves for the next one again: a stage makes millions
// of them, and a bson::Builder would allocate for each. Internal to engine/query.
//
// Thread-safety: none; one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/bson/element_bytes.h"
#include "engine/bson/value.h"

namespace gridmount::query {

// The largest document that goes from stage to stage. What a user gets or stores is at most
// bson::kMaxDocumentBytes, but between stages there may be more ({$push} before {$unwind}).
inline constexpr uint32_t kIntermediateBytesMax = 64 * 1024 * 1024;

// BSONObjectTooLarge, in the server's words.
tl::unexpected<Error> document_too_large(uint64_t bytes, uint32_t bytes_max);

// Overflow (15) if bson::kMaxDepth documents and arrays stand in one another below the document:
// whatever walks documents may then do so by recursion.
Status check_depth(bson::View document);

// Beyond kIntermediateBytesMax what is appended is dropped, and finish() says so.
class Output {
 public:
  Output() { begin(); }

  // Forgets what is there and begins a document.
  void begin();

  void append(std::string_view key, bson::ValueView value);
  void append(std::string_view key, int32_t value);
  void append(std::string_view key, int64_t value);
  void append_null(std::string_view key);
  // The element as it stands in another document.
  void append(const bson::Element& element) { append(element.key, element.value); }
  void open_document(std::string_view key) { open(bson::Type::kDocument, key); }
  void open_array(std::string_view key) { open(bson::Type::kArray, key); }
  // Into the innermost array, at its end.
  void push(bson::ValueView value);
  void push_open_document() { push_open(bson::Type::kDocument); }
  void push_open_array() { push_open(bson::Type::kArray); }
  void close();

  // What is appended means nothing; finish() gives the error.
  void fail(Error error);

  uint64_t size() const { return bytes_.size(); }

  // Valid until begin(). Too large, or too deep (the depth of values is looked at, not only of what
  // was opened here).
  Result<bson::View> finish();
  // The same without looking at the depth, where nothing but the input's own values was appended.
  Result<bson::View> finish_flat();

 private:
  struct Level {
    size_t begin;
    uint32_t next = 0;  // an array's next position
  };

  bool begin_element(bson::Type type, std::string_view key, size_t value_bytes);
  void open(bson::Type type, std::string_view key);
  void push_open(bson::Type type);

  std::vector<uint8_t> bytes_;
  std::vector<Level> open_;
  bson::ArrayKey array_key_;
  uint64_t dropped_ = 0;
  std::optional<Error> error_;
};

}  // namespace gridmount::query
