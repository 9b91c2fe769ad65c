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

/** Moments at which the enclave is killed, or stopped for a while, with every run that it has under way. */
export const ENCLAVE_STEPS = [
  /** A job is on its disk, and the server has no answer yet; then it has. */
  'noted',
  'taken',
  /** A portfolio is on its way to the relay; the relay has answered. */
  'before-write-ahead',
  'after-write-ahead',
  /** Between the look at the chain and the first byte to the broker; the broker has answered. */
  'before-send',
  'after-send',
  /** The same at the relay for a settlement or refund. */
  'before-end',
  'after-end',
  /** A run has its result, and the server has not. */
  'before-result',
  /** By the clock, some time after a job was taken. */
  'later',
] as const
export type EnclaveStep = (typeof ENCLAVE_STEPS)[number]

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
