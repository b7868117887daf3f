// The stage $fill. As on servers, it becomes a $setWindowFields for the fields with a method,
// followed by an $addFields for the fields with a value.

#include <optional>
#include <string>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/query/pipeline/document_transform.h"
#include "engine/query/pipeline/given_once.h"
#include "engine/query/pipeline/stage_table.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

tl::unexpected<Error> wrong_fill_type(std::string_view path, ValueView value,
                                      std::string_view expected) {
  return fail(ErrorCode::kTypeMismatch, "BSON field '$fill." + std::string(path) +
                                            "' is the wrong type '" + type_name(value) +
                                            "', expected type '" + std::string(expected) + "'");
}

tl::unexpected<Error> unknown_fill_field(std::string_view name) {
  return fail(ErrorCode::kUnknownField,
              "BSON field '$fill." + std::string(name) + "' is an unknown field.");
}

class FillParser {
 public:
  explicit FillParser(const StageCall& call) : call_(call) {}

  Status parse(ParsedStages& stages) {
    const bson::View specification = call_.value.as_document();
    GM_TRY(check_given_once("$fill", specification));
    for (const bson::Element option : specification) GM_TRY(read_option(option));
    if (!output_) {
      return fail(ErrorCode{40414}, "BSON field '$fill.output' is missing but a required field");
    }
    if (output_->as_document().empty()) {
      return fail(ErrorCode{6050203},
                  "The output field in '$fill' must contain an object with at least one element");
    }
    if (partition_by_ && partition_by_fields_) {
      return fail(
          ErrorCode{6050204},
          "Maximum one of 'partitionBy' and 'partitionByFields can be specified in '$fill'");
    }
    for (const bson::Element field : output_->as_document()) GM_TRY(read_output(field));
    if (has_methods_) GM_TRY(add_window_stage(stages));
    if (!has_values_) return {};
    const Value fields(std::move(values_).finish().view());
    return parse_stage({"$addFields", fields.view(), call_.scope, call_.level, call_.depth},
                       stages);
  }

 private:
  // A null option counts as not given.
  Status read_option(const bson::Element& option) {
    const bool is_array = option.key == "partitionByFields";
    std::optional<ValueView>* const place = option.key == "partitionBy" ? &partition_by_
                                            : option.key == "sortBy"    ? &sort_by_
                                            : option.key == "output"    ? &output_
                                            : is_array                  ? &partition_by_fields_
                                                                        : nullptr;
    if (place == nullptr) return unknown_fill_field(option.key);
    if (bson::is_nullish(option.value.type())) return {};
    if (option.value.type() != (is_array ? Type::kArray : Type::kDocument)) {
      return wrong_fill_type(option.key, option.value, is_array ? "array" : "object");
    }
    *place = option.value;
    return is_array ? check_partition_fields(option.value) : Status();
  }

  static Status check_partition_fields(ValueView fields) {
    for (const bson::Element element : fields.as_document()) {
      if (element.value.type() != Type::kString) {
        return wrong_fill_type("partitionByFields." + std::string(element.key), element.value,
                               "string");
      }
      if (element.value.as_string().find('\0') != std::string_view::npos) {
        return fail(ErrorCode{16411},
                    "FieldPath field names may not contain embedded nulls '\\0'.");
      }
    }
    return {};
  }

  Status read_output(const bson::Element& field) {
    if (field.value.type() != Type::kDocument) {
      return fail(ErrorCode{6050200},
                  "Each fill output specification must be an object with exactly one field");
    }
    std::optional<ValueView> value;
    std::optional<ValueView> method;
    GM_TRY(check_given_once("$fill", field.value.as_document()));
    for (const bson::Element option : field.value.as_document()) {
      if (option.key == "value") {
        value = option.value;
      } else if (option.key != "method") {
        return unknown_fill_field(option.key);
      } else if (option.value.type() == Type::kString) {
        method = option.value;
      } else if (!bson::is_nullish(option.value.type())) {
        return wrong_fill_type("method", option.value, "string");
      }
    }
    if (value && method) {
      return fail(ErrorCode{6050201},
                  "Each fill output specification must have exactly one of 'method' or 'value' "
                  "fields, not both");
    }
    if (method) return add_method(field.key, method->as_string());
    if (value) add_value(field.key, *value);
    return {};
  }

  Status add_method(std::string_view field, std::string_view method) {
    if (method != "locf" && method != "linear") {
      return fail(ErrorCode{6050202}, "Method must be either locf or linear");
    }
    methods_.open_document(field);
    methods_.append(method == "locf" ? "$locf" : "$linearFill", "$" + std::string(field));
    methods_.close();
    has_methods_ = true;
    return {};
  }

  void add_value(std::string_view field, ValueView value) {
    values_.open_document(field).open_array("$ifNull");
    values_.push(Value("$" + std::string(field)).view()).push(value);
    values_.close().close();
    has_values_ = true;
  }

  Status add_window_stage(ParsedStages& stages) {
    bson::Builder window;
    if (partition_by_) window.append("partitionBy", *partition_by_);
    if (partition_by_fields_) {
      window.open_document("partitionBy");
      for (const bson::Element element : partition_by_fields_->as_document()) {
        window.append(element.value.as_string(), "$" + std::string(element.value.as_string()));
      }
      window.close();
    }
    if (sort_by_) window.append("sortBy", *sort_by_);
    window.append("output", std::move(methods_).finish());
    const Value specification(std::move(window).finish().view());
    return parse_set_window_fields(
        {"$setWindowFields", specification.view(), call_.scope, call_.level, call_.depth}, stages);
  }

  const StageCall& call_;
  std::optional<ValueView> partition_by_;
  std::optional<ValueView> partition_by_fields_;
  std::optional<ValueView> sort_by_;
  std::optional<ValueView> output_;
  bson::Builder methods_;  // the output of $setWindowFields
  bool has_methods_ = false;
  bson::Builder values_;  // the fields of $addFields
  bool has_values_ = false;
};

}  // namespace

Status parse_fill(const StageCall& call, ParsedStages& stages) {
  if (call.value.type() != Type::kDocument) {
    return fail(ErrorCode::kFailedToParse,
                "The $fill stage specification must be an object, found " + type_name(call.value));
  }
  return FillParser(call).parse(stages);
}

}  // namespace gridmount::query
