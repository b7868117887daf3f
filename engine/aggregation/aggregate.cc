#include "engine/aggregation/aggregate.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <utility>

#include "engine/aggregation/access.h"
#include "engine/aggregation/store_pipeline_storage.h"
#include "engine/aggregation/view.h"
#include "engine/bson/builder.h"
#include "engine/bson/count.h"
#include "engine/query/filter/variables.h"
#include "engine/query/pipeline/pipeline.h"
#include "engine/query/projection/projection.h"

namespace gridmount::aggregation {
namespace {

// The cursor over a running pipeline. It owns everything that the pipeline refers to, except the
// snapshot.
class PipelineCursor : public engine::Cursor {
 public:
  PipelineCursor(query::Variables variables, query::Pipeline pipeline,
                 std::unique_ptr<StorePipelineStorage> storage)
      : variables_(std::move(variables)),
        pipeline_(std::move(pipeline)),
        storage_(std::move(storage)) {}

  Status open(std::unique_ptr<query::DocumentStream> input, query::Pipeline::Input given,
              const engine::Namespace& ns, bson::Date now, uint64_t memory_bytes_max,
              std::vector<query::StageStats>* stats = nullptr) {
    context_.emplace(query::PipelineContext{*storage_,
                                            {ns.database, ns.collection},
                                            now,
                                            variables_.views(),
                                            memory_bytes_max,
                                            std::random_device()(),
                                            variables_.collator()});
    GM_ASSIGN(stream_, pipeline_.run(std::move(input), *context_, given, stats));
    return {};
  }

  Result<std::optional<bson::View>> next() override {
    GM_TRY(storage_->check_interrupt());
    return stream_->next();
  }
  std::optional<double> text_score() const override { return stream_->text_score(); }

 private:
  query::Variables variables_;
  query::Pipeline pipeline_;
  const std::unique_ptr<StorePipelineStorage> storage_;
  std::optional<query::PipelineContext> context_;
  std::unique_ptr<query::DocumentStream> stream_;
};

class EmptyCursor : public engine::Cursor {
 public:
  Result<std::optional<bson::View>> next() override { return std::optional<bson::View>(); }
};

// Reads the whole input before it returns the first document. Used for a pipeline that writes to
// the collection it reads.
class GatheredStream : public query::DocumentStream {
 public:
  GatheredStream(std::unique_ptr<query::DocumentStream> input, uint64_t bytes_max)
      : input_(std::move(input)), bytes_max_(bytes_max) {}

  Result<std::optional<bson::View>> next() override {
    if (input_ != nullptr) GM_TRY(gather());
    if (at_ == documents_.size()) return std::optional<bson::View>();
    return std::optional(documents_[at_++].document.view());
  }
  std::optional<double> text_score() const override {
    return at_ == 0 ? std::nullopt : documents_[at_ - 1].text_score;
  }

 private:
  struct Gathered {
    bson::Document document;
    std::optional<double> text_score;
  };

  Status gather() {
    uint64_t bytes = 0;
    while (true) {
      GM_ASSIGN(const std::optional<bson::View> document, input_->next());
      if (!document) break;
      bytes += document->size();
      if (bytes > bytes_max_) {
        return fail(ErrorCode::kQueryExceededMemoryLimit,
                    "$out or $merge into the source collection needs more than the " +
                        std::to_string(bytes_max_) +
                        " bytes it may use; write into another collection");
      }
      documents_.push_back({bson::Document(*document), input_->text_score()});
    }
    input_.reset();
    return {};
  }

  std::unique_ptr<query::DocumentStream> input_;
  const uint64_t bytes_max_;
  std::vector<Gathered> documents_;
  size_t at_ = 0;
};

bson::Document joined(const bson::Document& first, bson::View second) {
  bson::Builder stages;
  size_t position = 0;
  for (const bson::View part : {first.view(), second}) {
    for (const bson::Element stage : part) stages.append(std::to_string(position++), stage.value);
  }
  return std::move(stages).finish();
}

// Returns the stages that are equivalent to the options of a find.
bson::Document stages_of(bson::View filter, bson::View sort, int64_t skip, int64_t limit,
                         bson::View projection = {}) {
  bson::Builder stages;
  size_t position = 0;
  const auto open = [&]() -> bson::Builder& {
    return stages.open_document(std::to_string(position++));
  };
  if (!filter.empty()) open().append("$match", filter).close();
  if (!sort.empty()) open().append("$sort", sort).close();
  if (skip > 0) open().append("$skip", skip).close();
  if (limit > 0) open().append("$limit", limit).close();
  if (!projection.empty()) open().append("$project", projection).close();
  return std::move(stages).finish();
}

// Returns the options for the read of the source collection.
engine::FindOptions find_options(const query::FindRequest& request,
                                 const engine::AggregateOptions& options) {
  engine::FindOptions find;
  find.sort = request.sort;
  find.skip = request.skip;
  find.limit = request.limit.value_or(0);
  find.hint = options.hint;
  find.variables = options.variables;
  find.collation = options.collation;
  find.deadline = options.deadline;
  find.sort_bytes_max = options.memory_bytes_max;
  find.text_score = request.text_score;
  if (request.fields) find.only_paths.emplace(request.fields->begin(), request.fields->end());
  return find;
}

engine::AggregateOptions read_options(const engine::FindOptions& options) {
  engine::AggregateOptions read;
  read.hint = options.hint;
  read.variables = options.variables;
  read.collation = options.collation;
  read.deadline = options.deadline;
  read.memory_bytes_max = options.sort_bytes_max;
  return read;
}

// Returns the specifications that the user has written for the stages `names`, which the pipeline
// runs itself. The pipeline may run the stages in another order. The specification is empty for a
// stage that the pipeline has made from others.
std::vector<bson::ValueView> specifications_of(const std::vector<std::string>& names,
                                               bson::View stages) {
  std::vector<bson::Element> written;
  for (const bson::Element stage : stages) {
    written.push_back(*stage.value.as_document().begin());
  }
  static const bson::Value nothing{bson::View()};
  std::vector<bson::ValueView> specifications(names.size(), nothing.view());
  for (size_t i = names.size(); i-- > 0;) {
    const auto found = std::find_if(written.rbegin(), written.rend(),
                                    [&](const bson::Element& one) { return one.key == names[i]; });
    if (found == written.rend()) continue;
    specifications[i] = found->value;
    written.erase(std::next(found).base());
  }
  return specifications;
}

// Opens the read of the source that the pipeline requests. Returns null for a pipeline that
// produces documents itself.
Result<std::unique_ptr<query::DocumentStream>> open_input(
    const Databases& databases, engine::Snapshot& snapshot, const engine::Namespace& ns,
    const query::Pipeline& pipeline, const query::Variables& variables, bson::Date now,
    const engine::AggregateOptions& options) {
  if (!pipeline.reads_input()) return std::unique_ptr<query::DocumentStream>();
  const query::FindRequest& request = pipeline.request();
  const bson::Document filter =
      pipeline.source_filter(variables.views(), now, variables.collator().get());
  GM_ASSIGN(std::unique_ptr<engine::Cursor> found,
            databases(ns.database)
                ->collection(ns.collection)
                ->find(snapshot, filter, find_options(request, options)));
  return std::unique_ptr<query::DocumentStream>(std::make_unique<CursorStream>(std::move(found)));
}

PipelineStorageOptions storage_options(const engine::Namespace& ns,
                                       const engine::AggregateOptions& options) {
  return {ns.database, options.deadline, options.bypass_validation, std::string(options.host),
          bson::Document(options.collation)};
}

// Runs a pipeline to its end, to measure it. The pipeline must not write.
Status measure(const Databases& databases, engine::Snapshot& snapshot, const engine::Namespace& ns,
               const ResolvedView& view, query::Variables variables, query::Pipeline pipeline,
               const engine::AggregateOptions& options, std::vector<query::StageStats>& stats) {
  const bson::Date now = bson::Date::now();
  GM_ASSIGN(std::unique_ptr<query::DocumentStream> input,
            open_input(databases, snapshot, view.ns, pipeline, variables, now, options));
  PipelineCursor cursor(
      std::move(variables), std::move(pipeline),
      std::make_unique<StorePipelineStorage>(databases, snapshot, storage_options(ns, options)));
  GM_TRY(cursor.open(std::move(input), query::Pipeline::Input::kRequested, view.ns, now,
                     options.memory_bytes_max, &stats));
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor.next());
    if (!document) return {};
  }
}

class ProjectedCursor : public engine::Cursor {
 public:
  ProjectedCursor(std::unique_ptr<engine::Cursor> cursor, query::Projection projection)
      : cursor_(std::move(cursor)), projection_(std::move(projection)) {}

  Result<std::optional<bson::View>> next() override {
    GM_ASSIGN(const std::optional<bson::View> document, cursor_->next());
    if (!document) return document;
    GM_ASSIGN(const bson::View projected, projection_.apply(*document));
    return std::optional(projected);
  }

 private:
  const std::unique_ptr<engine::Cursor> cursor_;
  query::Projection projection_;
};

Result<std::unique_ptr<engine::Cursor>> projected(std::unique_ptr<engine::Cursor> cursor,
                                                  bson::View filter,
                                                  const engine::FindOptions& options) {
  if (options.projection.empty()) return cursor;
  GM_ASSIGN(const query::SharedCollator collator, query::Collator::parse(options.collation));
  GM_ASSIGN(query::Projection projection,
            query::Projection::parse(options.projection,
                                     {filter, options.variables, bson::Date::now(), collator}));
  return std::unique_ptr<engine::Cursor>(
      std::make_unique<ProjectedCursor>(std::move(cursor), std::move(projection)));
}

class ListStream : public query::DocumentStream {
 public:
  explicit ListStream(std::vector<bson::Document> documents) : documents_(std::move(documents)) {}
  Result<std::optional<bson::View>> next() override {
    if (at_ == documents_.size()) return std::optional<bson::View>();
    return std::optional(documents_[at_++].view());
  }

 private:
  const std::vector<bson::Document> documents_;
  size_t at_ = 0;
};

}  // namespace

Result<std::unique_ptr<engine::Cursor>> aggregate(const Databases& databases,
                                                  engine::Snapshot& snapshot,
                                                  const engine::Namespace& ns, bson::View stages,
                                                  const engine::AggregateOptions& given) {
  const bson::Date now = bson::Date::now();
  GM_ASSIGN(const ResolvedView view, resolve_view(databases, snapshot, ns));
  const bson::Document all = joined(view.stages, stages);
  GM_ASSIGN(const bson::Document collation, effective_collation(ns, view, given.collation));
  engine::AggregateOptions options = given;
  options.collation = collation;
  GM_ASSIGN(query::SharedCollator collator, query::Collator::parse(options.collation));
  GM_ASSIGN(query::Variables variables,
            query::Variables::declare(options.variables, std::move(collator)));
  GM_ASSIGN(query::Pipeline pipeline,
            query::Pipeline::parse(all, variables.scope(),
                                   {.over_collection = !ns.collection.empty(), .may_write = true}));
  GM_TRY(check_access(databases, snapshot, ns, view, pipeline, options.bypass_validation));
  GM_TRY(check_views_collation(databases, snapshot, ns, pipeline, variables.collator().get()));
  const bool writes = pipeline.writes();
  if (writes && dynamic_cast<engine::Transaction*>(&snapshot) == nullptr) {
    return fail(ErrorCode::kIllegalOperation,
                "a pipeline with $out or $merge writes, so it needs a transaction");
  }
  auto storage =
      std::make_unique<StorePipelineStorage>(databases, snapshot, storage_options(ns, options));
  GM_ASSIGN(std::unique_ptr<query::DocumentStream> input,
            open_input(databases, snapshot, view.ns, pipeline, variables, now, options));
  if (input != nullptr) {
    const query::CollectionName target = pipeline.target().value_or(query::CollectionName());
    const bool into_itself = writes && target.collection == view.ns.collection &&
                             (target.database.empty() || target.database == view.ns.database);
    if (into_itself) {
      input = std::make_unique<GatheredStream>(std::move(input), options.memory_bytes_max);
    }
  }
  auto cursor = std::make_unique<PipelineCursor>(std::move(variables), std::move(pipeline),
                                                 std::move(storage));
  GM_TRY(cursor->open(std::move(input), query::Pipeline::Input::kRequested, view.ns, now,
                      options.memory_bytes_max));
  if (!writes) return std::unique_ptr<engine::Cursor>(std::move(cursor));
  GM_TRY(cursor->next());
  return std::unique_ptr<engine::Cursor>(std::make_unique<EmptyCursor>());
}

Result<bson::Document> explain_aggregate(const Databases& databases, engine::Snapshot& snapshot,
                                         const engine::Namespace& ns, bson::View stages,
                                         const engine::AggregateOptions& given,
                                         engine::Verbosity verbosity) {
  GM_ASSIGN(const ResolvedView view, resolve_view(databases, snapshot, ns));
  const bson::Document all = joined(view.stages, stages);
  GM_ASSIGN(const bson::Document collation, effective_collation(ns, view, given.collation));
  engine::AggregateOptions options = given;
  options.collation = collation;
  GM_ASSIGN(query::SharedCollator collator, query::Collator::parse(options.collation));
  GM_ASSIGN(query::Variables variables,
            query::Variables::declare(options.variables, std::move(collator)));
  GM_ASSIGN(query::Pipeline pipeline,
            query::Pipeline::parse(all, variables.scope(),
                                   {.over_collection = !ns.collection.empty(), .may_write = true}));
  GM_TRY(check_access(databases, snapshot, ns, view, pipeline, options.bypass_validation));
  GM_TRY(check_views_collation(databases, snapshot, ns, pipeline, variables.collator().get()));
  const std::vector<std::string_view> written = pipeline.own_stages();
  const std::vector<std::string> names(written.begin(), written.end());
  bson::Builder out;
  out.append("explainVersion", "1").open_array("stages");
  if (pipeline.reads_input()) {
    const query::FindRequest& request = pipeline.request();
    GM_ASSIGN(const bson::Document source,
              databases(view.ns.database)
                  ->collection(view.ns.collection)
                  ->explain(snapshot,
                            pipeline.source_filter(variables.views(), bson::Date::now(),
                                                   variables.collator().get()),
                            find_options(request, options), verbosity));
    // If the read answers the whole pipeline, the reply has the form of a find's.
    if (names.empty()) return source;
    bson::Builder& reading = out.push_open_document().open_document("$cursor");
    for (const bson::Element element : source.view()) {
      if (element.key != "explainVersion") reading.append(element.key, element.value);
    }
    reading.close().close();
  }
  const std::vector<bson::ValueView> specifications = specifications_of(names, all);
  std::vector<query::StageStats> stats;
  if (verbosity == engine::Verbosity::kExecutionStats && !pipeline.writes()) {
    GM_TRY(measure(databases, snapshot, ns, view, std::move(variables), std::move(pipeline),
                   options, stats));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    out.push_open_document().append(names[i], specifications[i]);
    if (i < stats.size()) {
      bson::append_count(out, "nReturned", stats[i].returned);
      bson::append_count(
          out, "executionTimeMillisEstimate",
          std::chrono::duration_cast<std::chrono::milliseconds>(stats[i].time).count());
    }
    out.close();
  }
  out.close();
  return std::move(out).finish();
}

Result<bson::Document> explain_view(const Databases& databases, engine::Snapshot& snapshot,
                                    const engine::Namespace& ns, bson::View filter,
                                    const engine::FindOptions& options,
                                    engine::Verbosity verbosity) {
  return explain_aggregate(
      databases, snapshot, ns,
      stages_of(filter, options.sort, options.skip, options.limit, options.projection),
      read_options(options), verbosity);
}

Result<std::unique_ptr<engine::Cursor>> find_in_view(const Databases& databases,
                                                     engine::Snapshot& snapshot,
                                                     const engine::Namespace& ns, bson::View filter,
                                                     const engine::FindOptions& options) {
  // This check refuses the projections that find does not allow. The stage refuses the projections
  // that find allows but $project does not ($slice with one operand, $elemMatch, `a.$`).
  GM_TRY(query::Projection::parse(options.projection, {filter, options.variables, bson::Date(),
                                                       nullptr, /*has_text_score=*/true}));
  return aggregate(databases, snapshot, ns,
                   stages_of(filter, options.sort, options.skip, options.limit, options.projection),
                   read_options(options));
}

Result<std::unique_ptr<engine::Cursor>> find_among(std::vector<bson::Document> documents,
                                                   const Databases& databases,
                                                   engine::Snapshot& snapshot,
                                                   const engine::Namespace& ns, bson::View filter,
                                                   const engine::FindOptions& options) {
  GM_ASSIGN(query::SharedCollator collator, query::Collator::parse(options.collation));
  GM_ASSIGN(query::Variables variables,
            query::Variables::declare(options.variables, std::move(collator)));
  const bson::Document stages = stages_of(filter, options.sort, options.skip, options.limit);
  GM_ASSIGN(query::Pipeline pipeline, query::Pipeline::parse(stages, variables.scope()));
  auto storage = std::make_unique<StorePipelineStorage>(
      databases, snapshot, PipelineStorageOptions{ns.database, options.deadline});
  auto cursor = std::make_unique<PipelineCursor>(std::move(variables), std::move(pipeline),
                                                 std::move(storage));
  GM_TRY(cursor->open(std::make_unique<ListStream>(std::move(documents)),
                      query::Pipeline::Input::kEverything, ns, bson::Date::now(),
                      options.sort_bytes_max));
  return projected(std::move(cursor), filter, options);
}

Result<int64_t> count_in_view(const Databases& databases, engine::Snapshot& snapshot,
                              const engine::Namespace& ns, bson::View filter,
                              const engine::CountOptions& options) {
  engine::AggregateOptions read;
  read.hint = options.hint;
  read.variables = options.variables;
  read.collation = options.collation;
  read.deadline = options.deadline;
  GM_ASSIGN(const std::unique_ptr<engine::Cursor> cursor,
            aggregate(databases, snapshot, ns,
                      stages_of(filter, bson::View(), options.skip, options.limit), read));
  int64_t count = 0;
  while (true) {
    GM_ASSIGN(const std::optional<bson::View> document, cursor->next());
    if (!document) return count;
    ++count;
  }
}

}  // namespace gridmount::aggregation
