import type { Bytes, Hex } from '../../protocol/hex.js'

/** The hardware below an attested enclave: it says what runs on it, and keeps secrets for that alone. */
export interface Machine {
  /** The format of its evidence. */
  readonly format: string
  /**
   * A fresh document about this program.
   * @param userData 32 bytes
   * @param nonce 32 bytes that a verifier has drawn
   * @returns Base64
   */
  evidence(userData: Bytes, nonce?: Bytes): Promise<string>
  /** `measurementOf` this program, read from a document: no setting can say another one. */
  measurement(): Promise<Hex>
  /** Undefined where the machine keeps no secrets. */
  readonly sealing?: {
    /** What only this program, on this machine, can unseal. */
    seal(secret: Bytes): Promise<Bytes>
    /**
     * Rejects for what another program or another machine sealed: what opens is this program's own. A policy that says who may unseal is not
     * enough, because another program can make what opens by it, with a master key that it knows.
     */
    unseal(sealed: Bytes): Promise<Bytes>
  }
}

/**
 * Why a machine did not do what it was asked: its tool, its agent, or Intel, who speaks for the processor. `foreign-object`: another program
 * made what it was to open.
 */
type MachineFault =
  | ('tool-missing' | 'tool-late' | 'tool-failed' | 'foreign-object')
  | ('agent-unreachable' | 'agent-refused' | 'agent-unreadable')
  | ('intel-unreachable' | 'intel-refused' | 'intel-unreadable')

/** A machine did not do what it was asked. Its own words are not passed on. */
export class MachineError extends Error {
  override readonly name = 'MachineError'

  /** @param asked the tool, or the question: a word of the code */
  constructor(
    readonly code: MachineFault,
    readonly asked: string,
  ) {
    super(`${code}: ${asked}`)
  }
}

/** The machines of a build, by their names in `ATTESTATION_PLATFORM`. */
export type Machines = Readonly<Record<string, () => Machine | Promise<Machine>>>
