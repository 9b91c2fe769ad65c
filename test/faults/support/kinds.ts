// What can go wrong, by name.

/** Of a node's answer to anything but a transaction. */
export const READ_FAULTS = [
  /** The connection is cut before the node hears of it. */
  'cut',
  /** The node hears of it; the connection is cut before its answer. */
  'lost',
  /** Passed on late, and answered late: it may be beyond the time-out. */
  'late',
  /** The connection stays open, and nobody is at its other end. */
  'half-open',
  /** The answer begins and never ends. */
  'half-answered',
  /** No JSON. */
  'garbage',
  /** JSON that ends too early. */
  'truncated',
  /** Each call is refused, with status 200. */
  'refused',
  /** Status 429. */
  'limited',
  /** Each answer is given twice. */
  'repeated',
  /** One answer is left out. */
  'missing',
  /** The answers in the opposite order, as JSON-RPC allows. */
  'reversed',
  /** `[]`. */
  'empty',
  /** Results of another type. */
  'wrong-type',
  /** A node that trails: everything as it was some blocks ago. */
  'stale',
  /** A node that has forgotten some transactions of the account. */
  'old-nonce',
] as const
export type ReadFault = (typeof READ_FAULTS)[number]

/** Of a transaction on its way to the node. */
export const SEND_FAULTS = [
  'cut',
  'lost',
  'late',
  'half-open',
  'refused',
  /** It reaches the node once more, later. */
  'twice',
  /** The node takes it, says so, and drops it (`anvil_dropTransaction`). */
  'forgotten',
  /** No node takes this one under its nonce, ever. */
  'unwanted',
] as const
export type SendFault = (typeof SEND_FAULTS)[number]

/** Of one node for a while, whatever it is asked, while the others are well. */
export const SPELLS = [
  /** Every connection is cut. */
  'down',
  /** It is some blocks behind; it takes transactions. */
  'trails',
  /** It goes away, and comes back for another chain. */
  'other-chain',
  /** It answers each call with an error, but for the chain that it is of. */
  'broken',
] as const
export type Spell = (typeof SPELLS)[number]

/** Of the chain itself. */
export const CHAIN_FAULTS = [
  /** Blocks are taken back, and what was in them with them (`anvil_reorg`). */
  'reorg',
  /** Some transaction of the account leaves the pool. */
  'dropped',
  /** The base fee rises far above what was offered. */
  'base-fee',
  /** The key is used elsewhere, under the next nonce of the pool. */
  'outside-next',
  /** The key is used elsewhere, in the place of a transaction that waits. */
  'outside-replaces',
] as const
export type ChainFault = (typeof CHAIN_FAULTS)[number]

/** The chain begins anew: between the last two lives, or in the last one, when all else has struck. */
export type Reset = 'down' | 'up'

/** Steps of one transaction at which the process ends itself: see `stepPreload.mjs`. */
export const INNER_STEPS = ['nonce-chosen', 'signed', 'saved', 'sent', 'seen'] as const
/** Moments that are seen from outside: the node has taken a transaction and not said so; it has mined one. */
export const OUTER_STEPS = ['accepted', 'mined'] as const
/** Moments by the clock: under load, and while the process starts. */
export const TIMES = ['random', 'starting'] as const
export const KILLS = [...INNER_STEPS, ...OUTER_STEPS, ...TIMES] as const
export type KillKind = (typeof KILLS)[number]
