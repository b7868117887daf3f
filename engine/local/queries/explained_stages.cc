#include "engine/local/queries/explained_stages.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/bson/count.h"
#include "engine/local/queries/explained_index.h"
#include "engine/query/filter/canonical_form.h"
#include "engine/query/filter/filter.h"
#include "engine/query/plan/planner.h"
#include "engine/query/plan/text_index_definition.h"
#include "engine/query/text/text_query.h"

namespace gridmount::local {
namespace {

using bson::append_count;
using bson::Builder;
using query::Plan;

// Servers count the works of a stage: one for each result, one for each step without a result, and
// one for the end.
struct StageCounts {
  int64_t returned = 0;
  int64_t works = 0;
  bool ended = false;

  StageCounts returning(int64_t count) const { return {count, works, ended}; }
};

StageCounts counts_of_scan(const ScanCounts& scan, int64_t steps) {
  return {scan.given, std::max(steps, scan.given) + (scan.ended ? 1 : 0), scan.ended};
}

// Returns whether a projection only includes whole fields. It may exclude the _id.
bool is_simple(bson::View projection) {
  bool keeps = false;
  for (const bson::Element field : projection) {
    const bool is_bool = field.value.type() == bson::Type::kBool;
    if (field.key.find_first_of(".$") != std::string_view::npos) return false;
    if (!is_bool && !field.value.is_number()) return false;
    const bool kept = is_bool ? field.value.as_bool() : field.value.number() != 0.0;
    if (!kept && field.key != "_id") return false;
    keeps = keeps || kept;
  }
  return keeps;
}

bool is_text_search(const bson::Document& condition) {
  return (*condition.view().begin()).key == "$text";
}

void append_texts(Builder& out, std::string_view name, const auto& texts) {
  Builder& list = out.open_array(name);
  for (const std::string& text : texts) list.push(bson::Value(text).view());
  list.close();
}

// Returns the part of the filter that the plan's bounds and a text search do not express.
bson::Document left_by_bounds(const ExplainedQuery& query, const Plan& plan) {
  std::vector<bson::Document> conditions = query::conditions_of(query.filter);
  const bool limited = !query.options.min.empty() || !query.options.max.empty();
  if (limited || plan.kind == Plan::Kind::kCollectionScan) return query::conjunction_of(conditions);
  if (plan.is_exact()) return bson::Document();
  if (plan.kind == Plan::Kind::kIndexScan) {
    const IndexMetadata& index = query.metadata->indexes[plan.index];
    query::IndexDefinition alone = index.definition;
    alone.partial_filter.reset();
    alone.hidden = false;
    std::erase_if(conditions, [&](const bson::Document& condition) {
      if (is_text_search(condition)) return true;  // the stage TEXT_MATCH tests it
      const auto parsed = query::Filter::parse(condition, {.collator = query.collator});
      if (!parsed) return false;  // it uses variables
      const Result<Plan> own = query::make_plan(*parsed, nullptr, {alone}, {index.multikey},
                                                bson::Value(alone.name), query.collator.get());
      return own && own->bounds_are_exact;
    });
  }
  return query::conjunction_of(conditions);
}

// The reported time is the time of the whole query, and the lowest stage takes most of it.
void append_counts(Builder& out, const StageCounts& counts, const Execution* execution) {
  if (execution == nullptr) return;
  append_count(out, "nReturned", counts.returned);
  append_count(out, "executionTimeMillisEstimate", execution->milliseconds);
  append_count(out, "works", counts.works);
  append_count(out, "advanced", counts.returned);
  append_count(out, "needTime",
               std::max<int64_t>(0, counts.works - counts.returned - (counts.ended ? 1 : 0)));
  // A read of a snapshot never yields.
  for (const char* const name : {"needYield", "saveState", "restoreState"}) {
    out.append(name, int32_t{0});
  }
  out.append("isEOF", int32_t{counts.ended ? 1 : 0});
}

void append_counted(Builder& out, const Execution* execution) {
  if (execution == nullptr) return;
  append_count(out, "nCounted", execution->stats.given);
  append_count(out, "nSkipped", execution->stats.matched - execution->stats.given);
}

class Stages {
 public:
  Stages(const ExplainedQuery& query, const Plan& plan, const Execution* execution)
      : query_(query), plan_(plan), execution_(execution), left_(left_by_bounds(query, plan)) {
    if (execution != nullptr) add_up(execution->stats);
  }

  // Writes the stages. Each stage is the inputStage of the stage before.
  void write(Builder& out) const {
    if (query_.counts) return count(out);
    if (query_.distinct) return distinct(out);
    if (query_.options.projection.empty()) return limit(out);
    if (query_.covered) {
      begin(out, "PROJECTION_COVERED", limited_);
    } else {
      begin(out, is_simple(query_.options.projection) ? "PROJECTION_SIMPLE" : "PROJECTION_DEFAULT",
            limited_);
    }
    out.append("transformBy", query_.options.projection);
    limit(out.open_document("inputStage"));
    out.close();
  }

 private:
  // Computes the counts of the stages from the bottom up. Each stage has the counts of the stage
  // below, minus the documents that it drops.
  void add_up(const ExecutionStats& stats) {
    const ScanCounts& scan = stats.scan;
    if (plan_.kind == Plan::Kind::kCollectionScan) {
      scanned_ = counts_of_scan(scan, scan.given).returning(stats.matched);
    } else {
      scanned_ = counts_of_scan(scan, scan.keys_examined);
      // The scan does not return the entries that the filter excluded.
      if (query_.filters_entries) scanned_.returned = stats.documents_examined;
      if (reads_no_documents()) scanned_.returned = stats.matched;
    }
    const int64_t skipped = std::min(query_.options.skip, stats.matched);
    if (skips_entries()) {
      if (query_.filters_entries) scanned_.returned += skipped;
      skipped_ = scanned_.returning(scanned_.returned - skipped);
      fetched_ = limited_ = scanned_.returning(stats.given);
      add_limit();
      return;
    }
    fetched_ = scanned_.returning(stats.matched);
    sorted_ = fetched_;
    if (query_.sorts) {
      const int64_t out = stats.given + skipped;
      sorted_ = {out, fetched_.works + out + 1, true};
    }
    skipped_ = sorted_.returning(stats.given);
    limited_ = skipped_;
    add_limit();
  }

  void add_limit() {
    if (query_.options.limit == 0 || limited_.ended) return;
    ++limited_.works;
    limited_.ended = true;
  }

  // Returns whether index entries are skipped instead of documents, because the entries alone show
  // that the documents match.
  bool skips_entries() const {
    const bool fetches = plan_.kind != Plan::Kind::kCollectionScan && !reads_no_documents();
    if (query_.options.skip == 0 || query_.sorts || !fetches) return false;
    return query_.filters_entries || left_.view().empty();
  }

  bool reads_no_documents() const { return query_.covered; }

  void begin(Builder& out, std::string_view stage, const StageCounts& counts) const {
    out.append("stage", stage);
    append_counts(out, counts, execution_);
  }

  void begin(Builder& out, std::string_view stage, const bson::Document& filter,
             const StageCounts& counts) const {
    out.append("stage", stage);
    if (!filter.view().empty()) out.append("filter", filter);
    append_counts(out, counts, execution_);
  }

  void count(Builder& out) const {
    begin(out, "COUNT", limited_.returning(0));
    append_counted(out, execution_);
    Builder& input = out.open_document("inputStage");
    if (!count_scan(input)) source(input);
    out.close();
  }

  // Writes a range of index entries that are counted without being examined.
  bool count_scan(Builder& out) const {
    if (plan_.kind != Plan::Kind::kIndexScan || !plan_.bounds_are_exact) return false;
    const IndexMetadata& index = query_.metadata->indexes[plan_.index];
    const std::optional<KeyRun> run = run_of(index, plan_);
    if (!run) return false;
    begin(out, "COUNT_SCAN", scanned_);
    describe(out, index, plan_);
    out.open_document("indexBounds")
        .append("startKey", run->first)
        .append("startKeyInclusive", run->first_inclusive)
        .append("endKey", run->last)
        .append("endKeyInclusive", run->last_inclusive)
        .close();
    if (execution_ != nullptr) {
      append_count(out, "keysExamined", execution_->stats.scan.keys_examined);
    }
    return true;
  }

  void distinct(Builder& out) const {
    const std::string_view path = query_.options.distinct_path;
    const bool of_field = path.find('.') == std::string_view::npos;
    begin(out, of_field ? "PROJECTION_COVERED" : "PROJECTION_DEFAULT", limited_);
    Builder& transform = out.open_document("transformBy");
    if (path != "_id") transform.append("_id", int32_t{0});
    transform.append(path, int32_t{1}).close();
    Builder& input = out.open_document("inputStage");
    begin(input, "DISTINCT_SCAN", scanned_);
    describe_scan(input, plan_);
    if (execution_ != nullptr) {
      append_count(input, "keysExamined", execution_->stats.scan.keys_examined);
    }
    out.close();
  }

  void limit(Builder& out) const {
    // A sort applies the limit itself.
    if (query_.options.limit == 0 || query_.sorts) return skip(out);
    begin(out, "LIMIT", limited_);
    out.append("limitAmount", query_.options.limit);
    skip(out.open_document("inputStage"));
    out.close();
  }

  void skip(Builder& out) const {
    if (query_.options.skip == 0 || skips_entries()) return sort(out);
    begin(out, "SKIP", skipped_);
    out.append("skipAmount", query_.options.skip);
    sort(out.open_document("inputStage"));
    out.close();
  }

  void sort(Builder& out) const {
    if (!query_.sorts) return source(out);
    begin(out, "SORT", sorted_);
    append_sort_pattern(out);
    append_count(out, "memLimit", static_cast<int64_t>(query_.options.sort_bytes_max));
    if (query_.options.limit != 0) {
      constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
      const auto [skip, limit] = std::pair(query_.options.skip, query_.options.limit);
      append_count(out, "limitAmount", limit > kMax - skip ? kMax : skip + limit);
    }
    out.append("type", query_.options.sort.empty() || !query_.text_score ? "simple" : "default");
    if (execution_ != nullptr) {
      append_count(out, "totalDataSizeSorted", execution_->stats.sorted_bytes);
      out.append("usedDisk", false);
    }
    source(out.open_document("inputStage"));
    out.close();
  }

  // On servers, the parts that are not fields have the names $computed0, $computed1 and so on.
  void append_sort_pattern(Builder& out) const {
    Builder& pattern = out.open_document("sortPattern");
    size_t computed = 0;
    for (const bson::Element part : query_.options.sort) {
      if (part.value.type() == bson::Type::kDocument) {
        pattern.append("$computed" + std::to_string(computed++), part.value);
      } else {
        pattern.append(part.key, part.value);
      }
    }
    pattern.close();
  }

  // Returns the index of a text search, or null if the plan is not a text search.
  const IndexMetadata* text_index() const {
    if (plan_.kind != Plan::Kind::kIndexScan) return nullptr;
    const IndexMetadata& index = query_.metadata->indexes[plan_.index];
    const auto conditions = query::conditions_of(query_.filter);
    const bool searches = std::any_of(conditions.begin(), conditions.end(), is_text_search);
    return searches && index.rules.text != nullptr ? &index : nullptr;
  }

  // Writes a text search, and the other conditions of the filter.
  void text_search(Builder& out, const IndexMetadata& index) const {
    const bool is_filtered = !left_.view().empty();
    if (is_filtered) {
      begin(out, "FETCH", left_, fetched_);
      documents_examined(out);
    }
    Builder& match = is_filtered ? out.open_document("inputStage") : out;
    begin(match, "TEXT_MATCH", is_filtered ? scanned_ : fetched_);
    Builder& prefix = match.open_document("indexPrefix");
    size_t at = 0;
    for (const bson::Element part : index.definition.keys.view()) {
      if (query::is_text_part(part)) break;
      // Use the last point, because the first point for null is the value undefined.
      if (at < plan_.bounds.size() && !plan_.bounds[at].empty()) {
        prefix.append(part.key, plan_.bounds[at].back().low);
      }
      ++at;
    }
    prefix.close();
    match.append("indexName", index.definition.name);
    for (const bson::Document& condition : query::conditions_of(query_.filter)) {
      if (!is_text_search(condition)) continue;
      const auto query =
          query::TextQuery::parse((*condition.view().begin()).value, index.rules.text);
      if (!query) continue;
      Builder& parsed = match.open_document("parsedTextQuery");
      append_texts(parsed, "terms", (*query)->terms());
      append_texts(parsed, "negatedTerms", (*query)->negated_terms());
      append_texts(parsed, "phrases", (*query)->phrases());
      append_texts(parsed, "negatedPhrases", (*query)->negated_phrases());
      parsed.close();
    }
    match.append("textIndexVersion", int32_t{3});
    Builder& input = match.open_document("inputStage");
    if (reads_no_documents()) {
      entries(input);
    } else {
      begin(input, query_.text_score ? "TEXT_OR" : "FETCH", scanned_);
      documents_examined(input);
      entries(input.open_document("inputStage"));
      input.close();
    }
    match.close();
    if (is_filtered) out.close();
  }

  void source(Builder& out) const {
    if (const IndexMetadata* const index = text_index()) return text_search(out, *index);
    if (plan_.kind == Plan::Kind::kCollectionScan) {
      begin(out, "COLLSCAN", left_, scanned_);
      out.append("direction", plan_.backward ? "backward" : "forward");
      documents_examined(out);
    } else if (reads_no_documents()) {
      entries(out);
    } else {
      begin(out, "FETCH", query_.filters_entries ? bson::Document() : left_, fetched_);
      documents_examined(out);
      if (execution_ != nullptr) out.append("alreadyHasObj", int32_t{0});
      Builder& input = out.open_document("inputStage");
      if (skips_entries()) {
        begin(input, "SKIP", skipped_);
        input.append("skipAmount", query_.options.skip);
        entries(input.open_document("inputStage"));
        input.close();
      } else {
        entries(input);
      }
      out.close();
    }
  }

  // Writes the scan of one index or of several.
  void entries(Builder& out) const {
    static const std::vector<const Scan*> kNone;
    const ExecutionStats* const stats = execution_ != nullptr ? &execution_->stats : nullptr;
    if (plan_.kind == Plan::Kind::kUnion) {
      alternatives(out, plan_, stats != nullptr ? &stats->scan : nullptr,
                   stats != nullptr ? stats->branches : kNone);
    } else {
      const bool filtered = query_.filters_entries;
      index_scan(out, plan_, stats != nullptr ? &stats->scan : nullptr,
                 filtered || reads_no_documents() ? left_ : bson::Document(), scanned_);
    }
  }

  void alternatives(Builder& out, const Plan& plan, const ScanCounts* scan,
                    const std::vector<const Scan*>& scans) const {
    begin(out, "OR", scan != nullptr ? counts_of_scan(*scan, scan->keys_examined) : StageCounts());
    if (scan != nullptr) append_duplicates(out, *scan);
    Builder& branches = out.open_array("inputStages");
    for (size_t i = 0; i < plan.branches.size(); ++i) {
      const Plan& branch = plan.branches[i];
      std::optional<ScanCounts> own;
      if (i < scans.size()) own = scans[i]->counts();
      Builder& inner = branches.push_open_document();
      if (branch.kind == Plan::Kind::kUnion) {
        alternatives(inner, branch, own ? &*own : nullptr,
                     own ? scans[i]->branches() : std::vector<const Scan*>());
      } else {
        index_scan(inner, branch, own ? &*own : nullptr, bson::Document(),
                   own ? counts_of_scan(*own, own->keys_examined) : StageCounts());
      }
      inner.close();
    }
    branches.close();
  }

  void index_scan(Builder& out, const Plan& plan, const ScanCounts* scan,
                  const bson::Document& filter, const StageCounts& counts) const {
    begin(out, "IXSCAN", filter, counts);
    describe_scan(out, plan);
    if (scan == nullptr) return;
    append_count(out, "keysExamined", scan->keys_examined);
    append_count(out, "seeks", scan->seeks);
    append_duplicates(out, *scan);
  }

  void describe_scan(Builder& out, const Plan& plan) const {
    const IndexMetadata& index = query_.metadata->indexes[plan.index];
    describe(out, index, plan);
    out.append("direction", plan.backward ? "backward" : "forward");
    append_bounds(out, index, plan);
  }

  static void describe(Builder& out, const IndexMetadata& index, const Plan& plan) {
    const query::IndexDefinition& definition = index.definition;
    out.append("keyPattern", key_pattern(index, plan)).append("indexName", definition.name);
    if (const bson::Document* const collation = definition.own_collation()) {
      out.append("collation", *collation);
    }
    out.append("isMultiKey", index.multikey);
    append_multikey_paths(out, index);
    out.append("isUnique", definition.unique).append("isSparse", definition.sparse);
    out.append("isPartial", definition.partial_filter.has_value());
    out.append("indexVersion", int32_t{2});
  }

  static void append_duplicates(Builder& out, const ScanCounts& scan) {
    append_count(out, "dupsTested", scan.tested);
    append_count(out, "dupsDropped", scan.dropped);
  }

  void documents_examined(Builder& out) const {
    if (execution_ == nullptr) return;
    append_count(out, "docsExamined", execution_->stats.documents_examined);
  }

  const ExplainedQuery& query_;
  const Plan& plan_;
  const Execution* execution_;
  const bson::Document left_;
  StageCounts scanned_;
  StageCounts fetched_;
  StageCounts sorted_;
  StageCounts skipped_;
  StageCounts limited_;
};

// Appends a stage that does all its work in one step.
void append_step(Builder& out, std::string_view stage, int64_t returned,
                 const Execution* execution) {
  out.append("stage", stage);
  append_counts(out, {returned, 1, true}, execution);
}

void append_by_id(Builder& out, const ExplainedQuery& query, const Execution* execution) {
  const int64_t returned = execution != nullptr ? execution->stats.given : 0;
  const bson::View projection = query.options.projection;
  if (!projection.empty()) {
    append_step(out, is_simple(projection) ? "PROJECTION_SIMPLE" : "PROJECTION_DEFAULT", returned,
                execution);
    out.append("transformBy", projection).open_document("inputStage");
  }
  append_step(out, "IDHACK", returned, execution);
  if (execution != nullptr) {
    append_count(out, "keysExamined", execution->stats.scan.keys_examined);
    append_count(out, "docsExamined", execution->stats.documents_examined);
  }
  if (!projection.empty()) out.close();
}

}  // namespace

void append_stages(Builder& out, const ExplainedQuery& query, const Plan* plan,
                   const Execution* execution) {
  if (plan != nullptr && query.by_id) {
    append_by_id(out, query, execution);
  } else if (plan != nullptr) {
    Stages(query, *plan, execution).write(out);
  } else if (!query.counts) {
    append_step(out, "EOF", 0, execution);
  } else if (query.metadata != nullptr) {
    append_step(out, "RECORD_STORE_FAST_COUNT", 0, execution);
    append_counted(out, execution);
  } else {
    append_step(out, "COUNT", 0, execution);
    append_counted(out, execution);
    append_step(out.open_document("inputStage"), "EOF", 0, execution);
    out.close();
  }
}

}  // namespace gridmount::local
