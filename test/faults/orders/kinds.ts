// What can go wrong with orders, by name.

/** Moments at which the server is killed. */
export const KILLS = [
  /** At a step of its stores, whichever it is: a read, a statement, before a commit or after it. */
  'store',
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

/** What goes wrong with the stores. */
export const STORE_FAULTS = [
  /** A read fails. */
  'read',
  /** There is no room for a write: its group is refused, and the server goes on. */
  'full',
  /** A commit fails before anything is written, or after all of it is: the server ends. */
  'commit',
  'sync',
] as const
export type StoreFault = (typeof STORE_FAULTS)[number]

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
