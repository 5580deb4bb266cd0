/** What a reviewer says of one criterion when the score is low, middling or high. */
export interface Remarks {
  readonly low: readonly string[];
  readonly middle: readonly string[];
  readonly high: readonly string[];
}

export const needRemarks: Remarks = {
  low: [
    "The problem is asserted rather than shown; no figures are given for the area itself.",
    "It remains unclear who asked for this and whether the people concerned were involved.",
    "The need described is real but is already met by the municipal scheme.",
  ],
  middle: [
    "The need is plausible, though the figures come from national averages.",
    "Well described for the main site, much less so for the other two.",
    "A fair account of the situation; the causes could be separated more clearly.",
  ],
  high: [
    "The need is shown with measurements of the applicants' own and with letters from those affected.",
    "Convincing: the problem is local, documented and has grown over the last years.",
    "One of the clearest accounts of a need in this round, written from first-hand knowledge.",
  ],
};

export const planRemarks: Remarks = {
  low: [
    "The steps are listed without dates, and the order in which permits are to be sought is not thought through.",
    "The method is named but not described; I could not say what will be done in the second half.",
    "Everything hangs on volunteers, with no plan for what happens if fewer come.",
  ],
  middle: [
    "The plan is workable but tight; a reserve of two months would make it credible.",
    "Sound in its main lines, with little on how results will be measured.",
    "Responsibilities are clear for the first year and vague after that.",
  ],
  high: [
    "A careful plan with milestones that can be checked and with an honest list of risks.",
    "The team has done this at a smaller scale and says what it learnt from it.",
    "Measuring is built in from the start, including a comparison that does not flatter the project.",
  ],
};

export const impactRemarks: Remarks = {
  low: [
    "The effect ends with the grant; nobody is named who would carry on.",
    "Benefit is limited to the applicants themselves.",
    "I see little that other places could take over.",
  ],
  middle: [
    "Useful locally; how others would learn of it is left open.",
    "The effect is likely, though smaller than the application promises.",
    "A good step, provided that the municipality keeps to its letter of intent.",
  ],
  high: [
    "Others could repeat this from the documents that the project will publish.",
    "The effect lasts, since the upkeep is agreed in writing with those who will do it.",
    "A modest sum would change daily practice for several hundred people.",
  ],
};

export const budgetRemarks: Remarks = {
  low: [
    "Personnel costs cannot be followed, and two large items have no offer behind them.",
    "The sum is out of proportion to the work described.",
    "Own contributions are counted twice.",
  ],
  middle: [
    "Mostly reasonable; travel seems high and the reserve is missing.",
    "The budget adds up, but the co-funding is not yet confirmed.",
    "Prices are a little optimistic for this year.",
  ],
  high: [
    "Lean, complete and backed by offers.",
    "Costs are modest, and the own share shows commitment.",
    "Every item can be traced to a step of the plan.",
  ],
};

export const ideaRemarks: Remarks = {
  low: [
    "The idea stays close to earlier work and does not need this place.",
    "I miss a question that the work would pursue.",
  ],
  middle: [
    "An attractive idea whose form is still open.",
    "The materials are well chosen; the link to the town is looser.",
  ],
  high: ["Idea, material and place belong together here.", "An original proposal with a clear artistic question."],
};

/** On the whole application, by recommendation. */
export const overallComments = {
  accept: [
    "I recommend support without reservation. The team knows the place, the plan is sound and the result will be of use beyond it.",
    "A strong application. My only wish is a short interim report after the first season.",
    "Well argued throughout; the few open points can be settled in the agreement.",
    "This is what the programme is for: a clear need, a tested method and people who will stay.",
  ],
  revise: [
    "A good idea that deserves another round of work on dates and responsibilities before it is funded.",
    "I would support this if the measuring plan is made concrete and the reserve is added.",
    "Promising, with a gap between the need described and the steps proposed. A conversation with the applicants would help.",
    "Support in part is conceivable: the first phase stands well on its own.",
  ],
  reject: [
    "In its present form I cannot recommend this application; need and method do not meet.",
    "The aims are worthwhile, but the plan does not show how they would be reached.",
    "I advise the applicants to begin with a smaller trial and to apply again with its results.",
  ],
} as const;

/** For the panel alone. */
export const confidentialComments = [
  "I would rank this among the top three that I have read in this round.",
  "The panel should ask about the lease, which ends before the project does.",
  "I am less sure of my score for the budget than of the others.",
  "Please compare with the similar application from the neighbouring district.",
  "My judgement rests on the written plan; a site visit could change it.",
];
