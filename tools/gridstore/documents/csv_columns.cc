#include "tools/gridstore/documents/csv_columns.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "engine/bson/dotted_path.h"
#include "tools/gridstore/compact_json.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

using bson::Type;

// Returns the text within {"$name":"text"}, or the whole JSON if it has another form.
std::string inner_text(const std::string& json) {
  const size_t begin = json.find(":\"");
  if (begin == std::string::npos || !json.ends_with("\"}")) return json;
  return json.substr(begin + 2, json.size() - begin - 4);
}

template <typename T>
std::optional<T> number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string csv_text(bson::ValueView value) {
  switch (value.type()) {
    case Type::kNull:
    case Type::kUndefined:
      return "";
    case Type::kString:
    case Type::kSymbol:
      return std::string(value.as_string());
    case Type::kObjectId:
      return "ObjectId(" + value.as_object_id().hex() + ")";
    case Type::kDate:
    case Type::kDecimal128:
    case Type::kDouble:
      return inner_text(compact_json(value, bson::JsonForm::kRelaxed));
    default:
      return compact_json(value, bson::JsonForm::kRelaxed);
  }
}

bson::Value guessed_value(const std::string& text) {
  if (const std::optional<int64_t> whole = number<int64_t>(text)) {
    const auto small = static_cast<int32_t>(*whole);
    return small == *whole ? bson::Value(small) : bson::Value(*whole);
  }
  if (const std::optional<double> real = number<double>(text)) return bson::Value(*real);
  return bson::Value(text);
}

Result<CsvColumns> CsvColumns::parse(std::span<const std::string> names) {
  CsvColumns columns;
  for (const std::string& name : names) {
    const Status added = columns.add(name, columns.count_);
    if (!added) {
      return fail(Error(added.error())
                      .with_context("column " + std::to_string(columns.count_ + 1) + ", " +
                                    in_quotes(name)));
    }
    ++columns.count_;
  }
  return columns;
}

Status CsvColumns::add(const std::string& name, size_t column) {
  if (name.empty()) return fail(ErrorCode::kBadValue, "it has no name");
  if (name.starts_with('$')) return fail(ErrorCode::kBadValue, "a name must not begin with '$'");
  if (name.find('\0') != std::string::npos) {
    return fail(ErrorCode::kBadValue, "a name must not hold a NUL");
  }
  const bson::Path path(name);
  if (path.parts().size() > bson::kMaxStoredDepth) {
    return fail(ErrorCode::kBadValue, "the path is too deep");
  }
  Node* node = &root_;
  for (const std::string& part : path.parts()) {
    if (part.empty()) return fail(ErrorCode::kBadValue, "a part of the path is empty");
    if (node->column != kNoColumn) {
      return fail(ErrorCode::kBadValue, "another column has the beginning of its path");
    }
    const auto found = std::find_if(node->children.begin(), node->children.end(),
                                    [&](const Node& child) { return child.name == part; });
    node = found != node->children.end() ? &*found : &node->children.emplace_back(Node{part});
  }
  if (node->column != kNoColumn)
    return fail(ErrorCode::kBadValue, "another column has the same name");
  if (!node->children.empty()) {
    return fail(ErrorCode::kBadValue, "its name is the beginning of another column's path");
  }
  node->column = column;
  return {};
}

bool CsvColumns::has_value(const Node& node, std::span<const std::string> fields,
                           bool ignore_blanks) {
  if (node.column != kNoColumn) {
    return node.column < fields.size() && !(ignore_blanks && fields[node.column].empty());
  }
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const Node& child) { return has_value(child, fields, ignore_blanks); });
}

void CsvColumns::append(bson::Builder& builder, const Node& node,
                        std::span<const std::string> fields, bool ignore_blanks) {
  for (const Node& child : node.children) {
    if (!has_value(child, fields, ignore_blanks)) continue;
    if (child.column != kNoColumn) {
      builder.append(child.name, guessed_value(fields[child.column]));
      continue;
    }
    builder.open_document(child.name);
    append(builder, child, fields, ignore_blanks);
    builder.close();
  }
}

Result<bson::Document> CsvColumns::document(std::span<const std::string> fields,
                                            bool ignore_blanks) const {
  bson::Builder builder;
  append(builder, root_, fields, ignore_blanks);
  for (size_t i = count_; i < fields.size(); ++i) {
    if (ignore_blanks && fields[i].empty()) continue;
    const std::string name = "field" + std::to_string(i);
    const bool is_taken = std::any_of(root_.children.begin(), root_.children.end(),
                                      [&](const Node& child) { return child.name == name; });
    if (is_taken) {
      return fail(ErrorCode::kBadValue,
                  "there are more fields than columns, and a column already has the name " +
                      in_quotes(name));
    }
    builder.append(name, guessed_value(fields[i]));
  }
  bson::Document document = std::move(builder).finish();
  GM_TRY(bson::validate(document.view().bytes()));
  return document;
}

}  // namespace gridmount::tools
