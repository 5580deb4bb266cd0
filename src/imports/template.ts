import * as z from "zod";
import { ProgramConfig } from "../contract/set-up/program-config.ts";

/** The name of the JSON Schema beside a file, by which editors find it. */
const schemaFile = "programme.schema.json";

/** The first line of each file, which makes editors check it and complete its names. */
export const schemaLine = `# yaml-language-server: $schema=${schemaFile}\n`;

/** Returns the JSON Schema of a programme's file. */
export function renderProgramSchema(): string {
  return `${JSON.stringify(z.toJSONSchema(ProgramConfig, { io: "input" }), null, 2)}\n`;
}

/** A complete example to begin with. */
export const programTemplate = `${schemaLine}# A programme for: programme-mcp import programme.yaml
program:
  name: Community Fund
  year: 2035
  description: Grants for projects that people run in their own neighbourhood.
  startDate: 2035-01-01
  endDate: 2035-12-31
  lifecycleStatus: underway
  currency: EUR
  assignmentRules:
    reviewsPerSubmission: 2
    useExpertiseMatching: true
    domainField: domain

tracks:
  - name: Small grants
    form: Application
    intakeOpen: true
    intakeCloseDate: 2035-06-30
    rounds:
      - name: First review
        rubric: Proposal
        deadline: 2035-08-31
        active: true
        anonymity: double_blind
      - name: Panel
        rubric: Proposal
        deadline: 2035-10-15

forms:
  - name: Application
    fields:
      - key: title
        label: Title of the project
        type: text
        required: true
        constraints: { maxLength: 120 }
      - key: summary
        label: Summary
        helpText: What will change for whom?
        type: textarea
        required: true
        constraints: { maxLength: 2000 }
      - key: domain
        label: Domain
        type: select
        required: true
        constraints:
          options: [Culture, Environment, Youth]
      - key: budget
        label: Requested amount in euros
        type: number
        required: true
        constraints: { min: 500, max: 10000 }
      - key: date_of_birth
        label: Date of birth
        type: date
        sensitivity: pii

rubrics:
  - name: Proposal
    scoringMethod: weighted_mean
    criteria:
      - label: Need
        weight: 2
      - label: Feasibility
      - label: Remarks
        type: text
        required: false
        weight: 0

personFields:
  - key: pronouns
    label: Pronouns
    type: text
  - key: newsletter
    label: Receives the newsletter
    type: boolean

reviewers:
  - email: ada@example.org
    firstName: Ada
    lastName: Okafor
    expertise: [Environment]
    rounds:
      - { track: Small grants, round: First review }
`;
