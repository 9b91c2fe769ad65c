// What can go wrong with orders, by name.

/** Moments at which the server is killed. */
export const KILLS = [
  /** At a file operation in its data directory, whichever it is. */
  'file',
  /** When an order has just been answered with 202. */
  'answered',
  /** When a run of the enclave has just begun, or has just ended. */
  'run-started',
  'run-ended',
  /** By the clock: under load, and while the process starts. */
  'random',
  'starting',
] as const
export type KillKind = (typeof KILLS)[number]

/** The operations on the data directory that fail, each with EIO instead of happening; a write gets half of its way. */
export const FILE_OPERATIONS = [
  'open',
  'read',
  'list',
  'write',
  'sync',
  'rename',
  'unlink',
  'mkdir',
  'touch',
] as const
export type FileOperation = (typeof FILE_OPERATIONS)[number]

/** What a run of the enclave does instead of its work, or besides it. */
export const ENCLAVE_ACTS = [
  /** Ends at once with a failure. */
  'exit',
  /** Is killed in the middle of its work. */
  'die',
  /** Leaves something that is no result. */
  'garbage',
  /** Writes two megabytes to its output, then works. */
  'babble',
  /** Starts children that outlive it, then works. */
  'fork',
] as const
/** Costs its account the time of a whole run: for the long form. */
export const SLOW_ACTS = [
  /** Never begins, and does not listen to SIGTERM. */
  'hang',
  /** Stands still in the middle of its work (SIGSTOP). */
  'freeze',
] as const
export type EnclaveAct = (typeof ENCLAVE_ACTS)[number] | (typeof SLOW_ACTS)[number]

/** What happens around server and enclave. */
export const WORLD_EVENTS = [
  'market-closed',
  /** The clock of server and enclave is set. */
  'clock-ahead',
  'clock-back',
  'disk-full',
  /** A broker that places the order and loses its answer; that never hears of it; that takes its time; that refuses. */
  'broker-lost',
  'broker-cut',
  'broker-slow',
  'broker-limited',
  'broker-failing',
  /** An order that fills late, in two parts, or not at all. */
  'fill-late',
  'fill-partial',
  'fill-rejected',
  /** An order that waits in a status of its own, or ends through one, in part or in full. */
  'order-held',
  'order-suspended',
  'order-stopped',
  'order-calculated',
  'order-done-for-day',
  /** An order that another one, under other ids, carries on after a part of its fill. */
  'order-replaced',
] as const
export type WorldEvent = (typeof WORLD_EVENTS)[number]
