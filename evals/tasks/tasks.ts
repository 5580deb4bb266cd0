import type { Task } from "../harness/task.ts";
import { lookupTasks } from "./lookup.ts";
import { peopleTasks } from "./people.ts";
import { readingTasks } from "./reading.ts";
import { safetyTasks } from "./safety.ts";
import { submissionTasks } from "./submissions.ts";
import { troubleTasks } from "./trouble.ts";

/** All tasks, in the order of the tables. */
export const tasks: readonly Task[] = [
  ...readingTasks,
  ...lookupTasks,
  ...submissionTasks,
  ...peopleTasks,
  ...safetyTasks,
  ...troubleTasks,
];
