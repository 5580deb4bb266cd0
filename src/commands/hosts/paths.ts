import { posix, win32 } from "node:path";
import type { HostLocation } from "./host.ts";

/** A path below the user's home directory. */
export function resolveInHome(place: HostLocation, ...parts: readonly string[]): string {
  return getPathApi(place).join(place.home, ...parts);
}

/** A path in a directory that a variable names, or else below the home directory. */
export function resolveInNamed(
  place: HostLocation,
  variable: string,
  fallback: readonly string[],
  ...parts: readonly string[]
): string {
  const named = place.env[variable];
  return named ? getPathApi(place).join(named, ...parts) : resolveInHome(place, ...fallback, ...parts);
}

/** A path where programs with windows keep settings, by the custom of the platform. */
export function resolveInAppData(place: HostLocation, ...parts: readonly string[]): string {
  if (place.platform === "darwin") return resolveInHome(place, "Library", "Application Support", ...parts);
  if (place.platform === "win32") return resolveInNamed(place, "APPDATA", ["AppData", "Roaming"], ...parts);
  return resolveInConfig(place, ...parts);
}

/** A path below `~/.config`, or what stands in for it (XDG Base Directory specification: relative paths do not count). */
export function resolveInConfig(place: HostLocation, ...parts: readonly string[]): string {
  const named = place.env["XDG_CONFIG_HOME"];
  return named && posix.isAbsolute(named) ? posix.join(named, ...parts) : resolveInHome(place, ".config", ...parts);
}

function getPathApi({ platform }: HostLocation): typeof posix {
  return platform === "win32" ? win32 : posix;
}
