"use strict";
// What stands under the pointer on lanes and ruler, in words.
(function (tw) {
  /** What an agent does in a step; the first line is its name. */
  tw.laneInWords = function (episode, place, step) {
    const lane = episode.team[place];
    const span = lane.span(step);
    const lines = [tw.say(lane.name)];
    if (lane.gone !== undefined && step >= lane.gone) lines.push(`gone: ${lane.gone_why}`);
    if (span) {
      lines.push(tw.say(span.action), `${tw.steps(span.start, span.end)}, ${episode.ending(span)}`);
      const pace = lane.pace(step);
      if (pace?.ready) lines.push(`in place, waiting for others at ${tw.say(pace.ready)}`);
      else if (pace?.blocker) lines.push(`in the way at step ${step}: ${tw.say(pace.blocker)}`);
    }
    for (const passed of lane.passed) {
      if (passed.start === step) lines.push(`${tw.say(passed.action)} ${episode.ending(passed)}`);
    }
    const hold = lane.hold(step);
    const asked = tw.askedAt(episode, lane.name, step).filter((row) => row.step === step);
    if (asked.length) lines.push(`asked: ${asked.map((row) => row.kind).join(", ")}; enter on the lanes reads it`);
    if (hold) lines.push(`committed to ${tw.say(hold.goal)} (${tw.say(hold.cause) || "no cause given"}), let go: ${hold.released}`);
    return lines;
  };

  const MARKS = [
    (episode, step, near) => {
      const found = episode.messages.filter((message) => Math.abs(message.step - step) <= near);
      return found.length ? [`${tw.plural(found.length, "message")} at step ${found[0].step}`] : [];
    },
    (episode, step, near) => spanning(episode.joints, step, near).map((joint) => tw.jointInWords(episode, joint)),
    (episode, step, near) =>
      spanning(episode.failures, step, near).map((failure) => `${failure.label}, ${tw.steps(failure.start, failure.end)}: ${tw.say(failure.text)}`),
    (episode, step, near) => {
      const found = episode.goals.filter((goal) => goal.done !== undefined && Math.abs(goal.done - step) <= near);
      return found.map((goal) => `${tw.say(goal.id)} done at step ${goal.done}`);
    },
    (episode, step, near) => {
      const found = (episode.questions ?? []).filter((row) => !row.skipped && Math.abs(row.step - step) <= near);
      const odd = found.filter(tw.isOddQuestion).length;
      return found.length ? [`${tw.plural(found.length, "question")} at step ${found[0].step}`, odd ? `${odd} with unusable answers` : null, "click to read"].filter(Boolean) : [];
    },
  ];

  const spanning = (rows, step, near) => rows.filter((row) => row.start - near <= step && step <= row.end + near).slice(0, 4);

  /** What a row of the ruler marks near a step, `near` steps to either side. */
  tw.markInWords = (episode, row, step, near) => MARKS[row]?.(episode, step, near) ?? [];
})(window.teamworld);
