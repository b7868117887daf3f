#include "tools/gridstore/documents/export_format.h"

#include <optional>

#include "engine/bson/dotted_path.h"
#include "tools/gridstore/compact_json.h"
#include "tools/gridstore/documents/csv_columns.h"
#include "tools/gridstore/documents/csv_record.h"

namespace gridmount::tools {

namespace {

class JsonLines final : public ExportFormat {
 public:
  explicit JsonLines(bson::JsonForm form) : form_(form) {}

  void append(std::string& out, bson::View document) override {
    out += compact_json(document, form_) + "\n";
  }

 private:
  const bson::JsonForm form_;
};

class JsonArray final : public ExportFormat {
 public:
  explicit JsonArray(bson::JsonForm form) : form_(form) {}

  void begin(std::string& out) override { out += '['; }
  void append(std::string& out, bson::View document) override {
    if (!is_first_) out += ",\n";
    is_first_ = false;
    out += compact_json(document, form_);
  }
  void end(std::string& out) override { out += "]\n"; }

 private:
  const bson::JsonForm form_;
  bool is_first_ = true;
};

class Csv final : public ExportFormat {
 public:
  explicit Csv(const std::vector<std::string>& fields) : names_(fields) {
    paths_.reserve(fields.size());
    for (const std::string& field : fields) paths_.emplace_back(field);
  }

  void begin(std::string& out) override { append_csv_record(out, names_); }
  void append(std::string& out, bson::View document) override {
    std::vector<std::string> record;
    record.reserve(paths_.size());
    for (const bson::Path& path : paths_) {
      const std::optional<bson::ValueView> value = path.resolve(document);
      record.push_back(value ? csv_text(*value) : std::string());
    }
    append_csv_record(out, record);
  }

 private:
  const std::vector<std::string> names_;
  std::vector<bson::Path> paths_;
};

}  // namespace

std::unique_ptr<ExportFormat> json_format(bson::JsonForm form, bool is_array) {
  if (is_array) return std::make_unique<JsonArray>(form);
  return std::make_unique<JsonLines>(form);
}

std::unique_ptr<ExportFormat> csv_format(const std::vector<std::string>& fields) {
  return std::make_unique<Csv>(fields);
}

}  // namespace gridmount::tools
