#include "engine/query/pipeline/lookup_stage.h"

#include "engine/query/output.h"
#include "engine/query/pipeline/lookup_join.h"
#include "engine/query/pipeline/path_writer.h"

namespace gridmount::query {
namespace {

using bson::Type;
using bson::Value;
using bson::ValueView;

class LookupStream : public DocumentStream {
 public:
  LookupStream(const LookupStage& stage, Stream input, const PipelineContext& context)
      : stage_(stage),
        options_(stage.options()),
        input_(std::move(input)),
        evaluator_(context.variables, context.now, context.collator.get()),
        context_(context),
        check_(context.storage),
        bytes_max_(context.memory_bytes_max) {
    context_.collection = options_.from;
  }

  Result<std::optional<bson::View>> next() override {
    if (stage_.unwind()) return next_unwound();
    GM_ASSIGN(const bool has_document, begin_document());
    if (!has_document) return std::nullopt;
    results_.begin();
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> found, next_found());
      if (!found) break;
      results_.push(ValueView(Type::kDocument, found->data(), found->size()));
      if (results_.size() > bytes_max_ || results_.size() > kIntermediateBytesMax) {
        return fail(ErrorCode{4568},
                    "Total size of documents in " + options_.from.collection +
                        " matching pipeline's $lookup stage exceeds " +
                        std::to_string(std::min<uint64_t>(bytes_max_, kIntermediateBytesMax)) +
                        " bytes");
      }
    }
    GM_ASSIGN(const bson::View results, results_.finish_flat());
    output_.begin();
    append_with_field(document_, options_.as->parts(),
                      ValueView(Type::kArray, results.data(), results.size()), stage_.wanted(),
                      output_);
    GM_ASSIGN(const bson::View result, output_.finish());
    return result;
  }
  std::optional<double> text_score() const override { return input_->text_score(); }

 private:
  Result<std::optional<bson::View>> next_unwound() {
    while (true) {
      if (!begun_) {
        GM_ASSIGN(const bool has_document, begin_document());
        if (!has_document) return std::nullopt;
        begun_ = true;
        index_ = 0;
      }
      GM_ASSIGN(const std::optional<bson::View> found, next_found());
      if (found) {
        return unwound(ValueView(Type::kDocument, found->data(), found->size()), Value(index_++));
      }
      begun_ = false;
      if (index_ == 0 && stage_.unwind()->preserve) return unwound(std::nullopt, Value());
    }
  }

  Result<std::optional<bson::View>> unwound(const std::optional<ValueView>& value,
                                            const Value& index) {
    output_.begin();
    append_with_field(document_, options_.as->parts(), value, stage_.wanted(), output_);
    GM_ASSIGN(const bson::View result, output_.finish());
    if (!stage_.unwind()->index_path) return result;
    indexed_.begin();
    append_with_field(result, stage_.unwind()->index_path->parts(), index.view(), nullptr,
                      indexed_);
    GM_ASSIGN(const bson::View with_index, indexed_.finish());
    return with_index;
  }

  // Reads the next document and begins the search for its matches. Returns false at the end.
  Result<bool> begin_document() {
    GM_ASSIGN(const std::optional<bson::View> document, input_->next());
    if (!document) return false;
    document_ = *document;
    if (cached_) {
      cached_at_ = 0;
      return true;
    }
    evaluator_.begin(document_, input_->text_score());
    for (const LookupOptions::Variable& variable : options_.variables) {
      GM_ASSIGN(context_.variables[variable.slot], evaluator_.evaluate(*variable.value));
    }
    bson::Document filter;
    if (options_.local_field) {
      filter = join_filter(*options_.foreign_field, local_values(document_, *options_.local_field));
    }
    ++context_.random_seed;  // each search draws another sample
    GM_ASSIGN(found_, open_over_collection(*options_.pipeline, options_.from, filter, context_));
    caching_ = stage_.is_uncorrelated() && !too_large_;
    cache_.clear();
    cache_bytes_ = 0;
    return true;
  }

  Result<std::optional<bson::View>> next_found() {
    GM_TRY(check_());
    if (cached_) {
      if (cached_at_ == cache_.size()) return std::nullopt;
      return cache_[cached_at_++].view();
    }
    GM_ASSIGN(const std::optional<bson::View> found, found_->next());
    if (!found) {
      found_.reset();
      cached_ = caching_;
      return std::nullopt;
    }
    if (caching_) {
      cache_bytes_ += found->size() + sizeof(bson::Document);
      // If the results are too large for the cache, the stage searches again for each document.
      caching_ = cache_bytes_ <= bytes_max_;
      if (caching_) {
        cache_.emplace_back(*found);
      } else {
        too_large_ = true;
        cache_ = {};
      }
    }
    return found;
  }

  const LookupStage& stage_;
  const LookupOptions& options_;
  Stream input_;
  Evaluator evaluator_;
  PipelineContext context_;  // for the inner pipeline, with the variables
  InterruptCheck check_;
  const uint64_t bytes_max_;
  bson::View document_;
  Stream found_;
  bool begun_ = false;
  int64_t index_ = 0;
  DocumentOutput results_;
  DocumentOutput output_;
  DocumentOutput indexed_;

  // A cache for results that are the same for every document.
  bool caching_ = false;
  bool cached_ = false;
  bool too_large_ = false;
  std::vector<bson::Document> cache_;
  uint64_t cache_bytes_ = 0;
  size_t cached_at_ = 0;
};

}  // namespace

Result<Stream> LookupStage::open(Stream input, const PipelineContext& context) const {
  return std::make_unique<LookupStream>(*this, std::move(input), context);
}

void LookupStage::plan(FieldDependencies& needs) {
  wanted_ = needs;
  if (unwind_ && unwind_->index_path) needs.replace(unwind_->index_path->dotted());
  needs.replace(options_.as->dotted());
  if (options_.local_field) needs.add(options_.local_field->dotted());
  for (const LookupOptions::Variable& variable : options_.variables) needs.add(*variable.value);
}

void LookupStage::add_collections(std::set<CollectionName>& names) const {
  if (!options_.from.collection.empty()) names.insert(options_.from);
  const std::set<CollectionName>& others = options_.pipeline->other_collections();
  names.insert(others.begin(), others.end());
}

bool LookupStage::absorb(const UnwindStage& unwind) {
  if (unwind_ || unwind.path().dotted() != options_.as->dotted()) return false;
  unwind_ = unwind.options();
  return true;
}

}  // namespace gridmount::query
