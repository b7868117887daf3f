// The stage $sort. If a $limit follows, the sort keeps only the first documents in the order.

#include <set>
#include <string>

#include "engine/bson/number.h"
#include "engine/query/output.h"
#include "engine/query/pipeline/basic_stages.h"
#include "engine/query/pipeline/sort_buffer.h"
#include "engine/query/sort.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::ValueView;

class SortStream : public DocumentStream {
 public:
  SortStream(const Sort& sort, std::optional<uint64_t> limit, const FieldDependencies& wanted,
             Stream input, uint64_t bytes_max)
      : keys_(sort),
        parts_(sort.parts().size()),
        buffer_(directions_of(sort), sort.collator().get(), limit),
        wanted_(wanted),
        input_(std::move(input)),
        bytes_max_(bytes_max) {}

  Result<std::optional<bson::View>> next() override {
    if (!gathered_) GM_TRY(gather());
    if (at_ > 0 && at_ <= buffer_.size()) buffer_.release(at_ - 1);
    if (at_ >= buffer_.size()) {
      at_ = buffer_.size() + 1;
      return std::nullopt;
    }
    return buffer_.payload(at_++).as_document();
  }
  std::optional<double> text_score() const override {
    if (at_ == 0 || at_ > buffer_.size()) return std::nullopt;
    return buffer_.key(at_ - 1, parts_).number();
  }

 private:
  Status gather() {
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, input_->next());
      if (!document) break;
      const std::optional<double> text_score = input_->text_score();
      GM_ASSIGN(std::span<const ValueView> key, keys_.read(*document, text_score));
      if (!buffer_.would_keep(key)) continue;
      // The key also has the text score, which is not compared.
      const bson::Value score = text_score ? bson::Value(*text_score) : bson::Value();
      key_.assign(key.begin(), key.end());
      key_.push_back(score.view());
      key = key_;
      GM_ASSIGN(const bson::View kept, part_kept(*document));
      buffer_.add(key, ValueView(Type::kDocument, kept.data(), kept.size()));
      if (buffer_.bytes() > bytes_max_) return sort_memory_exceeded(bytes_max_);
    }
    GM_TRY(buffer_.sort());
    input_.reset();
    gathered_ = true;
    return {};
  }

  // Keeps only the needed fields of a document, to save memory.
  Result<bson::View> part_kept(bson::View document) {
    if (wanted_.is_all()) return document;
    part_.begin();
    for (const bson::Element element : document) {
      if (wanted_.has_field(element.key)) part_.append(element);
    }
    return part_.finish_flat();
  }

  SortKeyReader keys_;
  const size_t parts_;
  std::vector<ValueView> key_;
  SortBuffer buffer_;
  const FieldDependencies& wanted_;
  Stream input_;
  const uint64_t bytes_max_;
  DocumentOutput part_;
  bool gathered_ = false;
  size_t at_ = 0;
};

}  // namespace

Result<Stream> SortStage::open(Stream input, const PipelineContext& context) const {
  return std::make_unique<SortStream>(sort_, limit_, wanted_, std::move(input),
                                      context.memory_bytes_max);
}

void SortStage::plan(FieldDependencies& needs) {
  wanted_ = needs;
  for (const Sort::Part& part : sort_.parts()) {
    if (!part.is_text_score) needs.add(part.path.dotted());
  }
}

Result<Sort> parse_sort_pattern(ValueView value, const SharedCollator& collator,
                                SortMetadata metadata) {
  if (value.type() != Type::kDocument) {
    return fail(ErrorCode{15973}, "the $sort key specification must be an object");
  }
  if (value.as_document().empty()) {
    return fail(ErrorCode{15976}, "$sort stage must have at least one sort key");
  }
  std::set<std::string_view> fields;
  for (const bson::Element element : value.as_document()) {
    GM_TRY(parse_sort_part(element, metadata));
    if (!fields.insert(element.key).second) {
      return fail(ErrorCode{7472500}, "$sort key must not contain duplicate keys (field: '" +
                                          std::string(element.key) + "')");
    }
    if (fields.size() > 32) return fail(ErrorCode{13103}, "too many compound keys");
  }
  return Sort::parse(value.as_document(), collator, metadata);
}

Status parse_sort(const StageCall& call, ParsedStages& stages) {
  GM_ASSIGN(Sort sort,
            parse_sort_pattern(call.value, call.scope.collator(), SortMetadata::kAllowed));
  if (sort.uses_text_score() && !call.scope.has_text_score()) return text_score_unavailable();
  stages.push_back(
      std::make_unique<SortStage>(bson::Document(call.value.as_document()), std::move(sort)));
  return {};
}

}  // namespace gridmount::query
