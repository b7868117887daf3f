#include "tests/engine/mongo/differences.h"

#include <algorithm>
#include <span>

namespace gridmount::engine {
namespace {

struct Difference {
  std::string_view test;
  std::string_view reason;
};

constexpr std::string_view kProfile = "the server alone writes to system.profile";
constexpr Difference kOfBothServers[] = {
    {"Covered_PipelinesGiveWhatDocumentsGive",
     "the server answers a whole pipeline as a query, whose plan has no stages"},
    {"Covered_QueriesReadNoDocuments",
     "where an index covers a query, the server returns missing fields as null"},
    {"Distinct_ByAnIndexIsWhatTheDocumentsHave", "distinct takes a hint since MongoDB 7.1"},
    {"Explain_CountsReadWhatCountsRead",
     "the server reads one key more, and counts multikey entries without documents"},
    {"Explain_DistinctPassesOverEqualEntries",
     "the server also passes over equal entries below two conditions, and shows its projections"},
    {"Explain_NamesStagesAndCounts", "the server plans the branches of an $or below a SUBPLAN"},
    {"Explain_OfPipelinesAndViews",
     "the server puts a projection below $group, and writes constants as $const"},
    {"Explain_StagesReadAsServersWriteThem",
     "a COLLSCAN of MongoDB 6.0 counts one work more, which opens its cursor"},
    {"Insert_NestedTooDeep_IsRefused",
     "the server takes one level more than the 180 that its message names"},
    {"Profiler_RecordThatCannotBeWritten_CostsNoOther", kProfile},
    {"Profiler_RecordsWhatItsLevelSays", kProfile},
    {"SystemCollections_ShowTheCatalog",
     "servers since 3.0 have no system.namespaces and system.indexes"},
    {"Validate_CountsAndJudges",
     "MongoDB 6.0 reports documents that do not comply as errors, later versions as warnings"},
    {"Views_ThatReadOneAnotherDeeply_AreRefused",
     "the server refuses to make such views, and we to read them"},
};

constexpr std::string_view kCapped = "servers refuse writes to capped collections in transactions";
constexpr Difference kOfReplicaSets[] = {
    {"Capped_DocumentsMayGrow_AndTheNewestStays", kCapped},
    {"Capped_KeepsTheNewestByNumber", kCapped},
    {"Capped_KeepsTheNewestBySize", kCapped},
    {"ConvertToCapped_KeepsTheNewestEvenIfItDoesNotFit", kCapped},
    {"Modify_ChangesIndexesAndLimits", kCapped},
    {"Tailable_TakesTheNaturalOrderAlone", kCapped},
    {"Tailable_WaitsForDocuments", kCapped},
};

constexpr Difference kOfOurServer[] = {
    {"Create_Existing_IsNamespaceExists",
     "as a server of version 7.0 it succeeds if the options are the same"},
    {"Profiler_RecordThatCannotBeWritten_CostsNoOther", kProfile},
    {"Profiler_RecordsWhatItsLevelSays", kProfile},
    {"Unsupported_Options_AreRefused", "the server refuses some of them as CommandNotSupported"},
};

std::string_view reason_in(std::span<const Difference> table, std::string_view test) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Difference& each) { return each.test == test; });
  return found == table.end() ? std::string_view() : found->reason;
}

}  // namespace

std::string_view difference_of_standalone(std::string_view test) {
  if (test.starts_with("Unsupported_")) return "the server supports it";
  return reason_in(kOfBothServers, test);
}

std::string_view difference_of_replica_set(std::string_view test) {
  const std::string_view reason = reason_in(kOfReplicaSets, test);
  return reason.empty() ? difference_of_standalone(test) : reason;
}

std::string_view difference_of_our_server(std::string_view test) {
  return reason_in(kOfOurServer, test);
}

}  // namespace gridmount::engine
