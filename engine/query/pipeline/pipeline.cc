#include "engine/query/pipeline/pipeline.h"

#include "engine/bson/builder.h"
#include "engine/query/output.h"
#include "engine/query/pipeline/basic_stages.h"
#include "engine/query/pipeline/stage.h"

namespace gridmount::query {
namespace {

constexpr uint32_t kResultBytesMax = bson::kMaxDocumentBytes + bson::kInternalOverhead;

// The output of a whole pipeline, as its user reads it.
class PipelineStream : public DocumentStream {
 public:
  explicit PipelineStream(const PipelineContext& context) : context_(context) {}

  // The stages hold references to this context.
  PipelineContext& context() { return context_; }
  void set_last(Stream last) { last_ = std::move(last); }

  Result<std::optional<bson::View>> next() override {
    Result<std::optional<bson::View>> document = last_->next();
    if (document && *document && (*document)->size() > kResultBytesMax) {
      return document_too_large((*document)->size(), kResultBytesMax);
    }
    return document;
  }
  std::optional<double> text_score() const override { return last_->text_score(); }

 private:
  PipelineContext context_;
  Stream last_;
};

class MeasuredStream : public DocumentStream {
 public:
  MeasuredStream(Stream stream, StageStats& stats) : stream_(std::move(stream)), stats_(stats) {}

  Result<std::optional<bson::View>> next() override {
    const auto begin = std::chrono::steady_clock::now();
    Result<std::optional<bson::View>> document = stream_->next();
    stats_.time += std::chrono::steady_clock::now() - begin;
    if (document && *document) ++stats_.returned;
    return document;
  }
  std::optional<double> text_score() const override { return stream_->text_score(); }

 private:
  const Stream stream_;
  StageStats& stats_;
};

bson::Document both(bson::View a, bson::View b) {
  if (a.empty()) return bson::Document(b);
  if (b.empty()) return bson::Document(a);
  bson::Builder builder;
  builder.open_array("$and").push(a).push(b).close();
  return std::move(builder).finish();
}

}  // namespace

Pipeline::Pipeline() = default;
Pipeline::Pipeline(Pipeline&&) noexcept = default;
Pipeline& Pipeline::operator=(Pipeline&&) noexcept = default;
Pipeline::~Pipeline() = default;

bool Pipeline::reads_input() const {
  return stages_.empty() || !stages_.front()->is_source();
}

bson::Document Pipeline::source_filter(const std::vector<std::optional<bson::ValueView>>& variables,
                                       bson::Date now, const bson::StringOrder* strings) const {
  bson::Builder builder;
  bson::Builder& filters = builder.open_array("$and");
  const size_t empty_size = builder.size();
  for (size_t i = filter_stages_; i < stages_.size() && stages_[i]->is_filter(); ++i) {
    stages_[i]->add_source_filters(variables, now, strings, filters);
  }
  if (builder.size() == empty_size) return request_.filter;
  if (!request_.filter.view().empty()) filters.push(request_.filter);
  builder.close();
  return std::move(builder).finish();
}

std::vector<std::string_view> Pipeline::own_stages() const {
  std::vector<std::string_view> names;
  for (size_t i = request_stages_; i < stages_.size(); ++i) names.push_back(stages_[i]->name());
  return names;
}

bool Pipeline::writes() const {
  return target().has_value();
}

std::optional<CollectionName> Pipeline::target() const {
  return stages_.empty() ? std::nullopt : stages_.back()->target();
}

Result<Stream> Pipeline::run(Stream input, const PipelineContext& context, Input given,
                             std::vector<StageStats>* stats) const {
  auto stream = std::make_unique<PipelineStream>(context);
  if (stream->context().variables.size() < slots_) stream->context().variables.resize(slots_);
  size_t first = 0;
  if (given == Input::kFiltered) first = filter_stages_;
  if (given == Input::kRequested) first = request_stages_;
  if (stats == nullptr) {
    GM_ASSIGN(input, open_stages(*this, first, std::move(input), stream->context()));
  } else {
    stats->assign(stages_.size() - first, {});
    for (size_t i = first; i < stages_.size(); ++i) {
      GM_ASSIGN(input, stages_[i]->open(std::move(input), stream->context()));
      input = std::make_unique<MeasuredStream>(std::move(input), (*stats)[i - first]);
    }
  }
  stream->set_last(std::move(input));
  return stream;
}

Result<Stream> open_stages(const Pipeline& pipeline, size_t first, Stream input,
                           const PipelineContext& context) {
  for (size_t i = first; i < pipeline.stages_.size(); ++i) {
    GM_ASSIGN(input, pipeline.stages_[i]->open(std::move(input), context));
  }
  return input;
}

Result<Stream> open_over_collection(const Pipeline& pipeline, const CollectionName& collection,
                                    bson::View filter, const PipelineContext& context) {
  if (pipeline.reads_input()) {
    FindRequest request = pipeline.request_;
    request.filter = both(
        filter, pipeline.source_filter(context.variables, context.now, context.collator.get()));
    if (request.fields) {
      FieldDependencies needs;
      for (const std::string& path : *request.fields) needs.add(path);
      add_filter_needs(filter, needs);
      request.fields = needs.outer_paths();
    }
    GM_ASSIGN(Stream input, context.storage.find(collection, request));
    return open_stages(pipeline, pipeline.request_stages_, std::move(input), context);
  }
  GM_ASSIGN(Stream made, pipeline.stages_.front()->open(nullptr, context));
  if (!filter.empty()) {
    GM_ASSIGN(made, filtered(std::move(made), filter, context.collator));
  }
  return open_stages(pipeline, 1, std::move(made), context);
}

}  // namespace gridmount::query
