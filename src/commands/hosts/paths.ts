import { posix, win32 } from "node:path";
import type { HostLocation } from "./host.ts";

/** Returns a path in the user's home directory. */
export function resolveInHome(place: HostLocation, ...parts: readonly string[]): string {
  return getPathApi(place).join(place.home, ...parts);
}

/** Returns a path in the directory that a variable names, otherwise in the home directory. */
export function resolveInNamed(
  place: HostLocation,
  variable: string,
  fallback: readonly string[],
  ...parts: readonly string[]
): string {
  const named = place.env[variable];
  return named ? getPathApi(place).join(named, ...parts) : resolveInHome(place, ...fallback, ...parts);
}

/** Returns a path in the directory for application data, by the convention of the platform. */
export function resolveInAppData(place: HostLocation, ...parts: readonly string[]): string {
  if (place.platform === "darwin") return resolveInHome(place, "Library", "Application Support", ...parts);
  if (place.platform === "win32") return resolveInNamed(place, "APPDATA", ["AppData", "Roaming"], ...parts);
  return resolveInConfig(place, ...parts);
}

/** Returns a path in `~/.config` or its replacement (XDG Base Directory specification: relative paths are ignored). */
export function resolveInConfig(place: HostLocation, ...parts: readonly string[]): string {
  const named = place.env["XDG_CONFIG_HOME"];
  return named && posix.isAbsolute(named) ? posix.join(named, ...parts) : resolveInHome(place, ".config", ...parts);
}

function getPathApi({ platform }: HostLocation): typeof posix {
  return platform === "win32" ? win32 : posix;
}
