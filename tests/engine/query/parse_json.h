// Parses documents written as Extended JSON with ' instead of ".
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "engine/bson/json.h"

namespace gridmount::query {

inline bson::Document parse_json(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  Result<bson::Document> document = bson::document_from_json(text);
  if (!document) throw std::runtime_error(text + ": " + document.error().message());
  return *std::move(document);
}

inline std::string show(bson::View document) {
  std::string text = bson::to_json(document, bson::JsonForm::kRelaxed);
  std::replace(text.begin(), text.end(), '"', '\'');
  return text;
}

}  // namespace gridmount::query
