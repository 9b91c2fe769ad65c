import type { Command } from 'commander'
import type { verifyAttestation } from '../attestation/index.js'
import { sameAddress, ZERO_ADDRESS } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { anAddress } from '../terminal/arguments.js'
import { CommandError, usage } from '../terminal/failure.js'
import { applyAs } from './applyAs.js'
import { connectChain, timeOf, viewsOf } from './chain.js'
import { addCommand, type CommonOptions, type OperateProcess } from './io.js'
import { resolveAsOwner } from './resolve.js'
import { readDeployment } from './settings.js'

const HELP = `
The institution's admin has proposed it, and the new wallet has accepted it ("confidential-trading move"). Approve it only if you know that
both wallets are of the same person. A week after the approval, --carry-out moves the portfolio.`

interface Options extends CommonOptions {
  readonly withdraw?: true
  readonly carryOut?: true
}

/** Adds `move`: the owner approves the move of a lost wallet's portfolio, withdraws it, or has it carried out. */
export function addMove(root: Command, process: OperateProcess, verify: typeof verifyAttestation): void {
  addCommand(root, 'move', "approves the move of a lost wallet's portfolio to a new wallet")
    .argument('<lost>', 'the lost wallet', anAddress)
    .argument('<new>', 'the new wallet', anAddress)
    .option('--withdraw', 'ends the move')
    .option('--carry-out', 'has the enclave move the portfolio, once the delay has passed')
    .addHelpText('after', HELP)
    .action((from: Hex, to: Hex, options: Options) =>
      options.carryOut === true
        ? carryOut(process, options, { from, to, verify })
        : applyAs(process, options, { name: 'move', as: 'owner' }, async ({ registry }) => {
            const isApproved = options.withdraw !== true
            if (isApproved && !sameAddress((await registry.moveOf(from))?.to ?? ZERO_ADDRESS, to))
              throw usage(`no move of ${from} to ${to} is proposed`)
            return [{ kind: 'move', from, to, isApproved }]
          }),
    )
}

/** @throws RefusedError: the enclave's code. CommandError `move-not-due` */
async function carryOut(
  process: OperateProcess,
  options: Options,
  { from, to, verify }: { readonly from: Hex; readonly to: Hex; readonly verify: typeof verifyAttestation },
): Promise<void> {
  const deployment = readDeployment(options.directory)
  using chain = await connectChain(process.env, deployment.chainId)
  const move = await viewsOf(chain, deployment).registry.moveOf(from)
  if (move === null || !sameAddress(move.to, to) || move.effectiveAt === 0) {
    throw new CommandError('move-not-due', `no move of ${from} to ${to} is approved`)
  }
  if ((await timeOf(chain.rpc)) < move.effectiveAt) {
    const due = new Date(move.effectiveAt * 1_000).toISOString()
    throw new CommandError('move-not-due', `it is approved, and can be carried out from ${due} on`)
  }
  const request = { name: 'move', chain, deployment, verify }
  await resolveAsOwner(process, options, request, async (validBefore) => ({
    unsigned: { resolves: 'move', v: 1, from, to, validBefore },
    lines: [
      `the enclave will move the whole portfolio of ${from} to ${to}`,
      'USDC, shares and claims outside of the portfolio stay where they are; nothing undoes this',
    ],
    facts: { from, to },
  }))
}
