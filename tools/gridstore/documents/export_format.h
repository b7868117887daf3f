// The formats of `export`: Extended JSON lines or an array, and CSV, as mongoexport writes them.
//
// Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/bson/document.h"
#include "engine/bson/json.h"

namespace gridmount::tools {

class ExportFormat {
 public:
  virtual ~ExportFormat() = default;
  // Each function appends text: before the first document, for a document, and after the last one.
  virtual void begin(std::string& /*out*/) {}
  virtual void append(std::string& out, bson::View document) = 0;
  virtual void end(std::string& /*out*/) {}

  ExportFormat(const ExportFormat&) = delete;
  ExportFormat& operator=(const ExportFormat&) = delete;

 protected:
  ExportFormat() = default;
};

// One document on each line. With `is_array`, all of them are elements of one array.
std::unique_ptr<ExportFormat> json_format(bson::JsonForm form, bool is_array);

// A header with the names, and a record for each document. A name with dots is a path, which can
// also have positions in arrays.
std::unique_ptr<ExportFormat> csv_format(const std::vector<std::string>& fields);

}  // namespace gridmount::tools
