import { BrokerError, createBroker } from '../../broker/index.js'
import type { BrokerKeys } from '../../protocol/provisioning.js'
import { brokerOptionsOf } from '../commonConfig.js'
import type { AttestedConfig } from './settings.js'

/**
 * Why keys of the broker are not taken: they are of another account than the stated one, or of none, or nobody can tell now. They are asked
 * about where they come in, so what is sealed for the next start is of this account, too: it opens with the same configuration alone.
 */
export async function accountRefusal(
  config: AttestedConfig,
  { keyId, secretKey }: Pick<BrokerKeys, 'keyId' | 'secretKey'>,
): Promise<'wrong-account' | 'broker-unavailable' | undefined> {
  const keys = { ALPACA_KEY_ID: keyId, ALPACA_SECRET_KEY: secretKey }
  try {
    const { id } = await createBroker(brokerOptionsOf({ ...config, ...keys })).getAccount()
    return id.toLowerCase() === config.ALPACA_ACCOUNT_ID ? undefined : 'wrong-account'
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    return error.kind === 'unauthorized' ? 'wrong-account' : 'broker-unavailable'
  }
}
