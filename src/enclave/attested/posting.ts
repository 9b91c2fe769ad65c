import type { Attestation } from '../../protocol/attestation.js'
import { describeError, type LogFields, type Logger } from '../../service/logger.js'
import { createPost } from '../../service/post.js'
import { pause } from '../../service/waiting.js'
import { describeFailure } from './failures.js'

/** Verifiers believe a document for two hours. */
const INTERVAL_MS = 3_600_000
const AGAIN_MS = 500
const AGAIN_MAX_MS = 60_000
const POST_TIMEOUT_MS = 10_000
const OK = 200

/** Posts fresh evidence to the server at once and each hour, and more often until it is taken. Ends when `stopping` aborts. */
export async function postEvidence(options: {
  readonly attest: () => Promise<Attestation>
  /** Base URL of the server, which ends without a slash. */
  readonly serverUrl: string
  readonly relayToken: string
  readonly stopping: AbortSignal
  readonly logger: Logger
}): Promise<void> {
  const { attest, serverUrl, relayToken, stopping, logger } = options
  const url = `${serverUrl}/attestation`
  const post = createPost({ timeoutMs: POST_TIMEOUT_MS, maxConnections: 1 })
  let again = AGAIN_MS
  let isFailing = false

  /** Why the server does not have it, or undefined. */
  async function attempt(): Promise<LogFields | undefined> {
    let body: string
    try {
      body = JSON.stringify(await attest())
    } catch (error) {
      return describeFailure(error)
    }
    try {
      const { status } = await post(url, { authorization: `Bearer ${relayToken}` }, body)
      return status === OK ? undefined : { code: 'relay-refused', status }
    } catch (error) {
      return { code: 'relay-unavailable', ...describeError(error) }
    }
  }

  while (!stopping.aborted) {
    const failure = await attempt()
    const isPosted = failure === undefined
    if (!isPosted && !isFailing) logger.warn('evidence not posted', failure)
    if (isPosted && isFailing) logger.info('evidence posted again')
    isFailing = !isPosted
    await pause(isPosted ? INTERVAL_MS : again, stopping)
    again = isPosted ? AGAIN_MS : Math.min(again * 2, AGAIN_MAX_MS)
  }
}
