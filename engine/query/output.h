// Builds the documents that a stage produces, and uses the same memory for all of them. A stage may
// produce millions of documents, and a bson::Builder would allocate memory for each. Internal to
// engine/query.
//
// Not thread-safe.
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

// The limit for the size of a document that one stage passes to the next. A stored document has at
// most bson::kMaxDocumentBytes, and a document that a pipeline returns has at most
// bson::kInternalOverhead more bytes. But a document between stages may be larger ({$push} before
// {$unwind}).
inline constexpr uint32_t kIntermediateBytesMax = 64 * 1024 * 1024;

// Returns BSONObjectTooLarge with the server's message.
tl::unexpected<Error> document_too_large(uint64_t bytes, uint32_t bytes_max);

// Fails with Overflow (15) if documents and arrays are nested more than bson::kMaxDepth levels
// deep, including the document itself. After this check, recursive functions may be used on the
// document.
Status check_depth(bson::View document);

// Builds a document. If a value would make the document exceed kIntermediateBytesMax, this value
// and all later ones are ignored, and finish() fails.
class DocumentOutput {
 public:
  DocumentOutput() { begin(); }

  // Discards the document that was built, and begins a new one.
  void begin();

  void append(std::string_view key, bson::ValueView value);
  void append(std::string_view key, int32_t value);
  void append(std::string_view key, int64_t value);
  void append_null(std::string_view key);
  // Appends an element of another document unchanged.
  void append(const bson::Element& element) { append(element.key, element.value); }
  void open_document(std::string_view key) { open(bson::Type::kDocument, key); }
  void open_array(std::string_view key) { open(bson::Type::kArray, key); }
  // Appends to the innermost array.
  void push(bson::ValueView value);
  void push_open_document() { push_open(bson::Type::kDocument); }
  void push_open_array() { push_open(bson::Type::kArray); }
  void close();

  // Makes finish() fail with this error, whatever is appended afterwards. Only the first error is
  // kept.
  void fail(Error error);

  uint64_t size() const { return bytes_.size(); }

  // Returns the document, which is valid until begin(). Fails with the error that was passed to
  // fail(), with BSONObjectTooLarge, or with Overflow if it is nested too deep, including the
  // levels of the appended values. Checks the interruption of this thread (interruption.h).
  Result<bson::View> finish();
  // Like finish(), but does not check the depth. For a document whose depth is checked later, or
  // that is nested no deeper than a document that the stage has read.
  Result<bson::View> finish_flat();

 private:
  struct Level {
    size_t begin;
    uint32_t next = 0;  // the next position of an array
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
