/** The verbs with which exported functions begin. Add one only if none of these fits. */
export const verbs: ReadonlySet<string> = new Set(
  `
  abort accept add allow answer append apply assert assign authenticate authorize await begin bind block build call can
  cancel cancels change check choose classify clear close coerce collect combine compare compile complete compose
  compute configure confine confirm connect consume contains convert copy count create decode decrypt define delete
  deliver derive describe detect disable disabled discover divide drain dry edit emit enable encode encrypt end ends
  enqueue enrol ensure equals escape estimate exclude execute expand expect expire explain export extend fail fetch
  fill filter find finish fit flush follow format forward free get group handle has hash hide hides hold identify
  import infer insert inspect instrument is issue launch lease limit list listen load lock log map mask match matches
  may measure merge migrate move normalize note notify on open pad paint parse peek perform pick plan prepare present
  print probe process protect prove pseudonymize publish purge push put queue quote rank read reconcile record redact
  reduce refresh refuse refuses register reject relaunch release remember remove rename render replace replay report
  request require requires reset resolve respond restore resume retry return reveal review revoke rotate round run
  sanitize save scan schedule score screen seed select send serialize serve set settle shorten should show sign
  simulate skip split start stop store stream submit subscribe suggest sum summarize suppress sweep sync take test to
  track transact translate truncate try unsuppress unwrap update upsert validate verify visit wait warn watch with
  withdraw wrap write
  `
    .trim()
    .split(/\s+/),
);

/** Exported functions that read as declarations or as clauses of a query. */
export const declarations: ReadonlySet<string> = new Set([
  "operation",
  "problem",
  "validationProblem",
  "personal",
  "formAnswers",
  "freeForm",
  "sensitive",
  "sensitiveByField",
  "contactDetail",
  "boundedText",
  "stateFields",
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
  "greeting",
  "housekeeper",
  "inlet",
  "lane",
  "mend",
  "misfit",
  "neutralise",
  "office",
  "outlook",
  "passage",
  "patience",
  "rehearsal",
  "rehearse",
  "rehearsed",
  "sealed",
  "signpost",
  "spelling",
  "strangers",
  "told",
  "watched",
  "weighed",
]);
