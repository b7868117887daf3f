// Reads the fields of a command as strictly as a MongoDB server. Fails with the error codes of
// servers: 40413 for a field that occurs twice, 40414 for a missing field, 40415 for an unknown
// field, TypeMismatch (14) for a value of the wrong type. Source: MongoDB 7.0, src/mongo/idl (the
// parsers that servers generate for their commands).
//
// A command must take each field that it knows, and must then call finish(), which fails if a field
// was not taken. A field with the value null or undefined counts as absent, unless the comment of a
// function says otherwise.
//
// An Arguments object and the views that it returns refer to the request, which must outlive them.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/document.h"
#include "engine/store.h"
#include "engine/wire/request.h"

namespace gridmount::wire {

class Arguments {
 public:
  // Reads the body of a request, and its document sequences.
  static Result<Arguments> of(const Request& request);
  // Reads a document inside a command. `path` is the name of the document in error messages
  // ("update.updates"), and must outlive the result.
  static Result<Arguments> of(std::string_view path, bson::View document);

  std::string_view path() const { return path_; }

  // Returns true if the field is present, even if its value is null.
  bool has(std::string_view name) const;
  // Each of these functions takes a field. If the field is absent, the required_ functions fail, a
  // function with a fallback returns the fallback, and the others return nothing unless their
  // comments say otherwise.
  std::optional<bson::ValueView> any(std::string_view name);
  // Fails only if the field is missing. Also returns a value that is null or undefined.
  Result<bson::ValueView> required(std::string_view name);
  Result<std::optional<std::string_view>> string(std::string_view name);
  Result<std::string_view> required_string(std::string_view name);
  Result<std::optional<bson::View>> document(std::string_view name);
  Result<bson::View> required_document(std::string_view name);
  // Returns an empty document if the field is absent.
  Result<bson::View> document_or_empty(std::string_view name);
  Result<std::optional<bson::View>> array(std::string_view name);
  // strict_boolean() accepts only booleans. The other two functions also accept numbers, as most
  // commands do.
  Result<std::optional<bool>> strict_boolean(std::string_view name);
  Result<bool> boolean(std::string_view name, bool fallback = false);
  Result<std::optional<bool>> optional_boolean(std::string_view name);
  // Accepts numbers of any type and converts them with bson::clamped_integer().
  Result<std::optional<int64_t>> integer(std::string_view name);
  // Like integer(), but fails with kValueOutOfBounds (51024) for a value less than `least`.
  Result<std::optional<int64_t>> integer_from(std::string_view name, int64_t least);
  // Takes the array of documents that the body has under this name, or the document sequence with
  // this name, which a message can have in addition to its body. (Arguments::of() refuses a request
  // that has both.) Leaves out elements that are null or undefined. Fails with 40414 if the request
  // has neither the array nor the sequence, and with TypeMismatch if any other element is not a
  // document.
  Result<std::vector<bson::View>> documents(std::string_view name);

  // Returns the collection that the command's first field names. Fails with InvalidNamespace (73)
  // if the field is not a string or the name is not valid. collection() and database() may be
  // called only if the object was made from a Request.
  Result<engine::Namespace> collection();
  // Returns the command's database. Fails with InvalidNamespace (73) if its name is not valid.
  Result<std::string> database() const;

  // Takes a field without reading its value.
  void ignore(std::string_view name) { take(name); }
  // Takes and returns all fields that have not been taken. For commands that accept fields with any
  // name.
  std::vector<bson::Element> rest();
  // Fails with 40415 if a field was not taken, or if the request has a document sequence that the
  // command does not know.
  Status finish() const;

  // Return errors about a field, for callers that check the field themselves.
  tl::unexpected<Error> wrong_type(std::string_view name, bson::ValueView value,
                                   std::string_view expected) const;
  tl::unexpected<Error> missing(std::string_view name) const;

 private:
  struct Field {
    bson::Element element;
    bool taken = false;
  };

  Arguments(std::string_view path, const Request* request) : path_(path), request_(request) {}
  Status read(bson::View document);
  tl::unexpected<Error> duplicate(std::string_view name) const;
  const bson::Element* take(std::string_view name);

  std::string_view path_;
  const Request* request_;
  std::vector<Field> fields_;
};

// Returns the name that error messages use for the value's type: "double", "object", ...
std::string_view type_name(bson::ValueView value);

inline constexpr ErrorCode kDuplicateField{40413};
inline constexpr ErrorCode kMissingField{40414};
inline constexpr ErrorCode kValueOutOfBounds{51024};

}  // namespace gridmount::wire
