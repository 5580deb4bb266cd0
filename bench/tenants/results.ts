import type { EngineName } from "../scale/fill.ts";
import type { LoadName } from "./calls.ts";

/** The largest wanted ratio of a loaded p99 to a quiet one. */
export const wantedRatio = 3;

export interface Results {
  readonly measuredAt: string;
  readonly machine: string;
  readonly rounds: number;
  readonly seconds: number;
  readonly figures: readonly Figure[];
}

export interface Figure {
  readonly engine: EngineName;
  readonly load: LoadName;
  /** 2 if each organisation used its own process. */
  readonly processes: number;
  readonly kind: string;
  readonly quietP50Ms: number;
  readonly quietP99Ms: number;
  readonly loadedP50Ms: number;
  readonly loadedP99Ms: number;
  readonly ratio: number;
}
