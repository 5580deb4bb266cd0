/** The verbs with which exported functions begin. Add one only if none of these fits. */
export const verbs: ReadonlySet<string> = new Set(
  `
  accept add allow answer apply assert authenticate authorize await build call can change check choose classify close
  coerce combine compare compile complete compose compute configure confine connect copy count create decode delete
  describe disable divide dry edit enable encode end ends enqueue enrol equals exclude expand expect explain export fail fill
  find finish follow format free get has hash hide hold import index insert inspect invite instrument is issue launch lease limit list
  listen load map mask matches may measure merge migrate move normalize note on open paint parse perform pick plan
  prepare print protect publish purge put quote read reconcile record redact redirect refuse refuses register relaunch release remove render
  replace replay request require resolve retry revoke rotate run sanitize save score screen seed select send serialize serve
  set settle shorten should show skip sort split start store submit suggest summarize suppress sweep test to transact
  translate truncate unite unsuppress unwrap update validate verify visit wait watch with withdraw write
  `
    .trim()
    .split(/\s+/),
);

/** Exported functions that read as declarations or as clauses of a query. */
export const declarations: ReadonlySet<string> = new Set([
  "operation",
  "workflow",
  "problem",
  "validationProblem",
  "personal",
  "formAnswers",
  "freeForm",
  "sensitive",
  "sensitiveByField",
  "contactDetail",
  "boundedText",
  "forUpdate",
  // Kysely calls a migration's function so.
  "up",
]);

/** Words of former names, and words by which nobody would search. No name of a file or export has them. */
export const retiredWords: ReadonlySet<string> = new Set([
  "blind",
  "carrier",
  "desk",
  "dialler",
  "distrust",
  "face",
  "faces",
  "footing",
  "forgive",
  "gate",
  "greeter",
  "greeting",
  "housekeeper",
  "inlet",
  "lane",
  "lanes",
  "mend",
  "misfit",
  "neutralise",
  "office",
  "outlook",
  "pace",
  "passage",
  "patience",
  "rehearsal",
  "rehearse",
  "rehearsed",
  "road",
  "roads",
  "sealed",
  "sealer",
  "signpost",
  "spelling",
  "strangers",
  "told",
  "watched",
  "weighed",
]);
