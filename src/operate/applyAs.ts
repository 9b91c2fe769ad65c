// How a command changes a deployed platform: it says what it will do, asks, and sends what the chain does not have yet.
import type { Wallet } from 'ethers'
import { type Change, createOperator, planChange } from '../client/operator.js'
import { checksum, sameAddress } from '../protocol/address.js'
import type { Hex } from '../protocol/hex.js'
import { CommandError } from '../terminal/failure.js'
import { type Chain, connectChain, MINED_TIMEOUT_MS, type Views, viewsOf, walletOf } from './chain.js'
import { type CommonOptions, createSpeech, type OperateProcess } from './io.js'
import { KEY_VARIABLES, type KeyRole, readDeployment, readKey } from './settings.js'

/** A line of what a command will do; `send` is null if the chain is already so. */
interface Step {
  readonly text: string
  readonly send: (() => Promise<{ readonly txHash: string }>) | null
}
/** A change, in other words where its own say less; or a step that is none. */
export type Asked = (Change & { readonly words?: string }) | Step

interface Request {
  readonly name: string
  readonly as: KeyRole
  /** Asks about each step by itself. */
  readonly oneByOne?: boolean
}

/** Has the holder of a role change the platform. */
export function applyAs(
  process: OperateProcess,
  options: CommonOptions,
  request: Request,
  asked: readonly Asked[] | ((views: Views) => Promise<readonly Asked[]>),
): Promise<void> {
  const deployment = readDeployment(options.directory)
  const whole = { ...request, chainId: deployment.chainId }
  return take(process, options, whole, async (chain, wallet) => {
    const at = { escrow: deployment.contracts.orderEscrow, miningTimeoutMs: MINED_TIMEOUT_MS }
    const operator = createOperator({ wallet, ...at })
    const views = viewsOf(chain, deployment)
    await requireRole(views, request.as, checksum(wallet.address))
    const stepOf = async (each: Asked): Promise<Step> => {
      if (!('kind' in each)) return each
      const { text, isInForce, send } = await planChange(operator, each)
      return { text: each.words ?? text, send: isInForce ? null : send }
    }
    return Promise.all((typeof asked === 'function' ? await asked(views) : asked).map(stepOf))
  })
}

/**
 * Says what the steps are, asks, and takes those that the chain does not have yet.
 * @param request `chainId`: null for the node's own
 */
export async function take(
  process: OperateProcess,
  options: CommonOptions,
  request: Request & { readonly chainId: number | null },
  stepsOf: (chain: Chain, wallet: Wallet) => Promise<readonly Step[]>,
): Promise<void> {
  const { name, as } = request
  const speech = createSpeech(process, options)
  const key = readKey(process.env, as)
  let doing = ''
  const sent = (hash: string) => speech.say(`${doing}: sent ${hash}`)
  using chain = await connectChain(process.env, request.chainId, sent)
  const { chainId } = chain
  const wallet = walletOf(key, chain)
  const sender = checksum(wallet.address)
  const steps = await stepsOf(chain, wallet)
  const missing = steps.flatMap(({ text, send }) => (send === null ? [] : [{ text, send }]))
  for (const { text, send } of steps) speech.say(send === null ? `already so: ${text}` : `will ${text}`)
  const facts = { command: name, chainId, sender }
  if (missing.length === 0) {
    speech.result(['nothing to do'], { ...facts, changed: false, transactions: [] })
    return
  }
  const chosen: typeof missing = []
  for (const each of request.oneByOne ? missing.map((step) => [step]) : [missing]) {
    const what = request.oneByOne ? each.map(({ text }) => text).join() : `Send ${counted(each.length)}`
    if (await speech.ask(`${what} on chain ${chainId} as ${as} ${sender}?`)) chosen.push(...each)
  }
  if (chosen.length === 0) throw new CommandError('declined', 'nothing was done')
  const transactions: string[] = []
  for (const { text, send } of chosen) {
    doing = text
    transactions.push((await send()).txHash)
  }
  speech.result([`done: ${name}`], { ...facts, changed: true, transactions })
}

function counted(transactions: number): string {
  return transactions === 1 ? '1 transaction' : `${transactions} transactions`
}

/** Before anything is sent, so that a wrong key costs no gas. */
export async function requireRole({ authority }: Pick<Views, 'authority'>, as: KeyRole, sender: Hex) {
  if (as !== 'owner' && as !== 'guardian') return
  const holder = await authority[as]()
  if (sameAddress(holder, sender)) return
  const text = `${KEY_VARIABLES[as]} is the key of ${sender}, but the ${as} is ${holder}`
  throw new CommandError(`not-${as}`, text)
}
