// The columns of a CSV file: how the fields of documents become fields of records, and back.
//
// Thread-safety: immutable after construction, so safe to share.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/bson/builder.h"
#include "engine/bson/document.h"

namespace gridmount::tools {

// Returns the text of a value in a CSV file, as mongoexport writes it: strings as they are,
// ObjectId(...), the text of the Extended JSON for dates, doubles and decimals, an empty text for
// null and undefined, and relaxed Extended JSON for all other values.
std::string csv_text(bson::ValueView value);

// Returns the value that mongoimport makes of a text: an int32 or int64 if the text is an integer
// that fits, a double if the text is another number, otherwise a string.
bson::Value guessed_value(const std::string& text);

// Makes documents from records. A name with dots is a path: the columns a.b and a.c give
// {a: {b, c}}.
class CsvColumns {
 public:
  // Fails with BadValue if a name is empty, begins with '$', has an empty part or a NUL, occurs
  // twice, is the beginning of another name's path, or is a path that is nested too deeply.
  static Result<CsvColumns> parse(std::span<const std::string> names);

  // Makes the document of a record. As in mongoimport, a field without a column gets the name
  // field<position>, where the first field of the record has the position 0. Leaves out columns
  // without a field and, with `ignore_blanks`, all empty fields. Fails with BadValue if a name
  // field<position> is also the name of a column or the beginning of its path, and with
  // BSONObjectTooLarge.
  Result<bson::Document> document(std::span<const std::string> fields, bool ignore_blanks) const;

 private:
  static constexpr size_t kNoColumn = static_cast<size_t>(-1);
  struct Node {
    std::string name;
    size_t column = kNoColumn;  // the column of a value; kNoColumn for a subdocument
    std::vector<Node> children = {};
  };

  Status add(const std::string& name, size_t column);
  static bool has_value(const Node& node, std::span<const std::string> fields, bool ignore_blanks);
  static void append(bson::Builder& builder, const Node& node, std::span<const std::string> fields,
                     bool ignore_blanks);

  Node root_;
  size_t count_ = 0;
};

}  // namespace gridmount::tools
