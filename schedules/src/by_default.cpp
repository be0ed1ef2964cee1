// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <ashlar/schedules/by_default.h>

#include <algorithm>
#include <set>

#include <ashlar/ir/recurrence.h>
#include <ashlar/lang/build_program.h>

#include "schedules/src/draft.h"

namespace ashlar {
namespace schedules {

const Choice* Choices::find(const std::string& stage) const {
  const auto at = std::find_if(stages.begin(), stages.end(), [&](const Choice& c) { return c.stage == stage; });
  return at == stages.end() ? nullptr : &*at;
}

std::string Choices::text() const {
  std::string r;
  for (const Choice& c : stages) {
    r += c.stage + ": " + name_of(c.family);
    for (std::size_t k = 0; k < c.done.size(); ++k) r += (k == 0 ? "; " : ", ") + c.done[k];
    r += "\n";
    for (const std::string& why : c.why) r += "    " + why + "\n";
  }
  return r;
}

namespace {

void schedule(Draft& d, const Group& g, const std::vector<Group>& others, std::set<Id>& done) {
  const Plan plan = plan_of(d, g);
  const std::optional<Group> before = rows_before(d, g, plan, others);
  if (!before) return schedule_group(d, g, plan);
  done.insert(before->leader);
  schedule_together(d, g, plan, *before);
}

}  // namespace

Choices by_default(Schedule& s, const DefaultOptions& options, Where where) {
  Draft d(s, options, where);
  if (s.target().has_tiles()) {
    schedule_on_tiles(d);
    return d.finish();
  }
  if (s.target().is_gpu()) {
    schedule_on_device(d);
    return d.finish();
  }
  inline_stages(d);
  follow_steps(d);
  std::set<Id> done;
  for (std::vector<Group> groups = groups_of(d); !groups.empty();) {
    const Group g = groups.front();
    groups.erase(groups.begin());
    if (!done.insert(g.leader).second) continue;
    if (d.program().stages.count(g.leader) && is_untouched(d.program(), d.stage(g.leader)))
      schedule(d, g, groups, done);
    else
      groups = groups_of(d);  // inside of another one by now: what was to be inside of it stands elsewhere
  }
  std::vector<Id> recurrences;  // with stages inside, which no group holds
  for (const auto& [id, stage] : d.program().stages)
    if (stage.is_recurrence() && !ir::stages_inside(d.program(), stage).empty() && is_fresh(d.program(), stage))
      recurrences.push_back(id);
  for (const Id id : recurrences) schedule_steps(d, id);
  share_steps(d);
  return d.finish();
}

}  // namespace schedules

schedules::Choices schedule_by_default(Schedule& s, const schedules::DefaultOptions& options, Where where) {
  return schedules::by_default(s, options, where);
}

ScheduledByDefault schedule_by_default(const lang::Built& built, const Target& target, const schedules::DefaultOptions& options,
                                       Where where) {
  ScheduledByDefault r{Schedule(built, target), {}};
  r.choices = schedules::by_default(r.schedule, options, where);
  return r;
}

}  // namespace ashlar
