import { computeAddress } from 'ethers'
import type { z } from 'zod'
import { sameAddress } from '../../protocol/address.js'
import { namesTwice, type Rule } from '../../service/settingRules.js'
import type { environmentSchema } from './schema.js'

type Settings = z.output<typeof environmentSchema>

/** What the server's settings must be to one another. */
export const RULES: readonly Rule<Settings>[] = [
  {
    name: 'OPS_PORT',
    problem: "is PORT too: the operator's endpoints need a port of their own",
    isBroken: ({ OPS_PORT, PORT }) => OPS_PORT !== 0 && OPS_PORT === PORT,
  },
  {
    name: 'RELAY_PORT',
    problem: "is PORT or OPS_PORT too: the enclave's requests need a port of their own",
    isBroken: ({ RELAY_PORT, PORT, OPS_PORT }) => RELAY_PORT !== 0 && [PORT, OPS_PORT].includes(RELAY_PORT),
  },
  {
    // The caller of a rulebook would time out before its turn.
    name: 'ENCLAVE_TRIGGER_INTERVAL',
    problem: 'is not shorter than POLICY_RUN_TIMEOUT',
    isBroken: ({ ENCLAVE_TRIGGER_INTERVAL = 0, POLICY_RUN_TIMEOUT }) =>
      ENCLAVE_TRIGGER_INTERVAL >= POLICY_RUN_TIMEOUT,
  },
  {
    name: 'RPC_URL',
    problem: 'names one node twice: a second one must be another',
    isBroken: ({ RPC_URL }) => namesTwice(RPC_URL),
  },
  {
    name: 'INTENT_PUBKEY',
    problem: 'is of the same key as ENCLAVE_SIGNER: each needs a key of its own',
    isBroken: ({ INTENT_PUBKEY, ENCLAVE_SIGNER }) =>
      sameAddress(computeAddress(INTENT_PUBKEY), ENCLAVE_SIGNER),
  },
  {
    // Then the server holds the key that moves everyone's money.
    name: 'ENCLAVE_SIGNER',
    problem: "is an account of the relayer's keys: the enclave's key belongs to the enclave alone",
    isBroken: ({ ENCLAVE_SIGNER, RELAYER_PRIVATE_KEY = [] }) =>
      RELAYER_PRIVATE_KEY.some((key) => sameAddress(computeAddress(key.reveal()), ENCLAVE_SIGNER)),
  },
]
