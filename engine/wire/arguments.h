// A strict reader of a command's fields, with the errors of a server: 40413 for a field given
// twice, 40414 for one that is missing, 40415 for one that is not known, TypeMismatch (14).
// Source: MongoDB 7.0, src/mongo/idl (the parsers that servers generate for their commands).
//
// A command takes each field it knows, once, and then calls finish(), which refuses what nobody
// took. Null and undefined stand for a field that is not given.
//
// Views point into the request. Thread-safety: as for any value type.
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
  static Result<Arguments> of(const Request& request);
  // Of a document within a command; `path` is what errors call it ("update.updates") and outlives
  // the reader.
  static Result<Arguments> of(std::string_view path, bson::View document);

  std::string_view path() const { return path_; }

  // Whether it is given, be it null.
  bool has(std::string_view name) const;
  // Each takes a field. What a caller that gives no fallback gets nothing for is optional.
  std::optional<bson::ValueView> any(std::string_view name);
  Result<bson::ValueView> required(std::string_view name);
  Result<std::optional<std::string_view>> string(std::string_view name);
  Result<std::string_view> required_string(std::string_view name);
  Result<std::optional<bson::View>> document(std::string_view name);
  Result<bson::View> required_document(std::string_view name);
  // An empty document where there is none.
  Result<bson::View> document_or_empty(std::string_view name);
  Result<std::optional<bson::View>> array(std::string_view name);
  // Booleans alone; or numbers as well, as most commands take them.
  Result<std::optional<bool>> strict_boolean(std::string_view name);
  Result<bool> boolean(std::string_view name, bool fallback = false);
  Result<std::optional<bool>> optional_boolean(std::string_view name);
  // Numbers of any type, as bson::clamped_integer() reads them.
  Result<std::optional<int64_t>> integer(std::string_view name);
  // The same from `least` on; code 51024 below.
  Result<std::optional<int64_t>> integer_from(std::string_view name, int64_t least);
  // An array of documents in the body, or a section of that name beside it; both are 40413.
  Result<std::vector<bson::View>> documents(std::string_view name);

  // The collection that the command's first field names; InvalidNamespace (73) if it cannot.
  Result<engine::Namespace> collection();
  // The database of the command, checked.
  Result<std::string> database() const;

  void ignore(std::string_view name) { take(name); }
  // Every field that has not been taken, for commands with fields of any name; takes them.
  std::vector<bson::Element> rest();
  Status finish() const;

  // Errors about a field, for checks of the caller's.
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

// What a field of a command or of one of its documents is called: "double", "object", ...
std::string_view type_name(bson::ValueView value);

inline constexpr ErrorCode kDuplicateField{40413};
inline constexpr ErrorCode kMissingField{40414};
inline constexpr ErrorCode kValueOutOfBounds{51024};

}  // namespace gridmount::wire
