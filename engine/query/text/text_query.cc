#include "engine/query/text/text_query.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/query/text/find_text.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

constexpr ErrorCode kNoSuchKey{4};

// Splits a search text into words and the characters that have a meaning in it: '-' and '"'.
class SearchReader {
 public:
  struct Token {
    std::string_view text;
    size_t offset;
    bool is_word;
    bool after_space;  // a space, or the beginning of the text, is before the token
  };

  explicit SearchReader(std::string_view text) : text_(text) { skip_spaces(); }

  std::optional<Token> next() {
    if (at_ == text_.size()) return std::nullopt;
    const size_t begin = at_++;
    const bool is_word = !has_meaning(text_[begin]);
    while (is_word && at_ < text_.size() && text_[at_] != ' ' && !has_meaning(text_[at_])) ++at_;
    const Token token{text_.substr(begin, at_ - begin), begin, is_word, after_space_};
    after_space_ = false;
    skip_spaces();
    return token;
  }

 private:
  static bool has_meaning(char c) { return c == '-' || c == '"'; }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') {
      ++at_;
      after_space_ = true;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  bool after_space_ = true;
};

Status check_type(std::string_view name, ValueView value, Type type) {
  if (value.type() == type) return {};
  return fail(ErrorCode::kTypeMismatch, "\"" + std::string(name) +
                                            "\" had the wrong type. Expected " +
                                            std::string(bson::type_alias(type)) + ", found " +
                                            std::string(bson::type_alias(value.type())));
}

bool flag(bson::View operand, std::string_view name) {
  const std::optional<ValueView> value = operand.find(name);
  return value && value->as_bool();
}

std::string_view language_name(bson::View operand) {
  const std::optional<ValueView> value = operand.find("$language");
  return value ? value->as_string() : std::string_view();
}

}  // namespace

Status check_text_operand(ValueView operand) {
  if (operand.type() != Type::kDocument) {
    return fail(ErrorCode::kBadValue, "$text expects an object");
  }
  const bson::View fields = operand.as_document();
  const std::optional<ValueView> search = fields.find("$search");
  if (!search) return fail(kNoSuchKey, "Missing expected field \"$search\"");
  GM_TRY(check_type("$search", *search, Type::kString));
  for (const bson::Element element : fields) {
    if (element.key == "$language") {
      GM_TRY(check_type(element.key, element.value, Type::kString));
    } else if (element.key == "$caseSensitive" || element.key == "$diacriticSensitive") {
      GM_TRY(check_type(element.key, element.value, Type::kBool));
    } else if (element.key != "$search") {
      return fail(ErrorCode::kBadValue, "extra fields in $text");
    }
  }
  const std::string_view language = language_name(fields);
  if (!language.empty() && find_text_language(language) == nullptr) {
    return fail(ErrorCode::kBadValue,
                "unsupported language: \"" + std::string(language) + "\" for text index version 3");
  }
  return {};
}

Result<std::shared_ptr<const TextQuery>> TextQuery::parse(
    ValueView operand, std::shared_ptr<const TextIndexSpec> index) {
  GM_TRY(check_text_operand(operand));
  const bson::View fields = operand.as_document();
  auto query = std::make_shared<TextQuery>();
  query->index_ = std::move(index);
  const std::string_view language = language_name(fields);
  query->language_ =
      language.empty() ? &query->index_->default_language() : find_text_language(language);
  query->sensitivity_ = {flag(fields, "$caseSensitive"), flag(fields, "$diacriticSensitive")};
  GM_TRY(query->read_search(fields["$search"].as_string()));
  return std::shared_ptr<const TextQuery>(std::move(query));
}

// A '-' at the beginning of a word negates this word and the words after it, up to the next space.
// Words between quotation marks are a phrase. They are also terms, unless the phrase is negated.
Status TextQuery::read_search(std::string_view search) {
  std::string positive;
  std::string negative;
  bool negated = false;
  bool in_phrase = false;
  size_t quote = 0;
  SearchReader reader(search);
  while (const std::optional<SearchReader::Token> token = reader.next()) {
    if (token->is_word) {
      if (in_phrase && negated) continue;
      if (negated && token->after_space) negated = false;
      (negated ? negative : positive).append(token->text).push_back(' ');
    } else if (token->text == "-") {
      if (!in_phrase && token->after_space) negated = true;
    } else if (in_phrase) {
      std::string phrase(search.substr(quote + 1, token->offset - quote - 1));
      (negated ? negated_phrases_ : phrases_).push_back(std::move(phrase));
      in_phrase = false;
    } else {
      if (negated && token->after_space) negated = false;
      in_phrase = true;
      quote = token->offset;
    }
  }
  GM_TRY(add_terms(positive, terms_, false));
  return add_terms(negative, negated_terms_, true);
}

Status TextQuery::add_terms(const std::string& sentence, Terms& terms, bool is_negated) {
  const auto check_count = [&]() -> Status {
    if (index_terms_.size() <= kSearchTermsMax && terms.size() <= kSearchTermsMax) return {};
    return fail(ErrorCode::kExceededMemoryLimit,
                "the text search has more than " + std::to_string(kSearchTermsMax) + " terms");
  };
  TextTokenizer tokenizer(*language_);
  tokenizer.begin(sentence);
  while (const std::optional<std::string_view> term = tokenizer.next()) {
    if (!is_negated) index_terms_.emplace(*term);
    if (sensitivity_.is_plain()) terms.emplace(*term);
    GM_TRY(check_count());
  }
  if (sensitivity_.is_plain()) return {};
  tokenizer.begin(sentence, sensitivity_);
  while (const std::optional<std::string_view> term = tokenizer.next()) {
    terms.emplace(*term);
    GM_TRY(check_count());
  }
  return {};
}

bool TextQuery::is_plain() const {
  return sensitivity_.is_plain() && negated_terms_.empty() && phrases_.empty() &&
         negated_phrases_.empty();
}

// Folds each string of the document once, and looks for all phrases in the string.
bool TextQuery::match_phrases(bson::View document, const MayGoOn& may_go_on) const {
  if (phrases_.empty() && negated_phrases_.empty()) return true;
  std::vector<bool> found(phrases_.size(), false);
  bool has_negated = false;
  bool has_ended = false;
  const Status visited = index_->visit(document, [&](const TextIndexSpec::Text& text) {
    const std::string folded = folded_text(text.text, sensitivity_, text.language);
    const auto has = [&](const std::string& phrase) {
      has_ended = has_ended || !may_go_on(folded.size() + phrase.size());
      return !has_ended && find_text(folded, folded_text(phrase, sensitivity_, text.language), 0) !=
                               std::string::npos;
    };
    for (size_t i = 0; i < phrases_.size() && !has_ended; ++i) {
      if (!found[i]) found[i] = has(phrases_[i]);
    }
    for (size_t i = 0; i < negated_phrases_.size() && !has_ended && !has_negated; ++i) {
      has_negated = has(negated_phrases_[i]);
    }
    return !has_negated && !has_ended;
  });
  return visited && !has_ended && !has_negated &&
         std::all_of(found.begin(), found.end(), [](bool each) { return each; });
}

bool TextQuery::matches(bson::View document, const MayGoOn& may_go_on) const {
  bool has_term = false;
  bool has_negated = false;
  bool has_ended = false;
  const auto is_decided = [&] { return has_negated || (has_term && negated_terms_.empty()); };
  std::map<const TextLanguage*, TextTokenizer> tokenizers;
  const Status visited = index_->visit(document, [&](const TextIndexSpec::Text& text) {
    has_ended = !may_go_on(text.text.size());
    if (has_ended) return false;
    TextTokenizer& tokenizer = tokenizers.try_emplace(&text.language, text.language).first->second;
    tokenizer.begin(text.text, sensitivity_);
    while (const std::optional<std::string_view> term = tokenizer.next()) {
      has_term = has_term || terms_.contains(*term);
      has_negated = has_negated || negated_terms_.contains(*term);
      if (is_decided()) return false;
    }
    return true;
  });
  return visited && !has_ended && has_term && !has_negated && match_phrases(document, may_go_on);
}

std::optional<double> TextQuery::score_of(bson::View document) const {
  const Result<TermScores> scores = index_->scores_of(document);
  if (!scores) return std::nullopt;
  std::optional<double> sum;
  for (const std::string& term : index_terms_) {
    const auto found = scores->find(term);
    if (found != scores->end()) sum = sum.value_or(0) + found->second;
  }
  return sum;
}

bson::Document complete_text_operand(bson::View operand, std::string_view default_language) {
  const std::string_view language = language_name(operand);
  bson::Builder out;
  out.append("$search", operand["$search"])
      .append("$language", language.empty() ? default_language : language)
      .append("$caseSensitive", flag(operand, "$caseSensitive"))
      .append("$diacriticSensitive", flag(operand, "$diacriticSensitive"));
  return std::move(out).finish();
}

}  // namespace gridmount::query
