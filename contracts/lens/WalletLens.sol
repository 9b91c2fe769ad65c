// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IConfidentialLedger} from "../interfaces/IConfidentialLedger.sol";
import {IEquityToken} from "../interfaces/IEquityToken.sol";
import {IInstitutionRegistry} from "../interfaces/IInstitutionRegistry.sol";

/**
 * @title The state that decides a wallet's screen, in one `eth_call` at one block.
 *
 * @dev Never deployed: the call carries this code as a creation transaction without `to`, and the constructor returns
 * the answer, as ERC-6492's validator does. The caller need not look up the wallet's institution first.
 */
contract WalletLens {
    struct Answer {
        bytes32 orgId;
        bytes32 foundingId;
        bytes32 invitationId;
        address invitedBy;
        bool isKyc;
        address admin;
        bool isAdmitted;
        uint64 leavingAt;
        uint64 policyVersion;
    }

    constructor(IInstitutionRegistry registry, IEquityToken token, IConfidentialLedger ledger, address wallet) {
        bytes32 orgId = registry.orgOf(wallet);
        bytes32 invitationId = registry.invitationOf(wallet);
        bytes memory answer = abi.encode(
            Answer({
                orgId: orgId,
                foundingId: registry.foundingOf(wallet),
                invitationId: invitationId,
                invitedBy: registry.adminOf(invitationId),
                isKyc: token.isKyc(wallet),
                admin: registry.adminOf(orgId),
                isAdmitted: registry.isAdmitted(orgId),
                leavingAt: orgId == bytes32(0) ? 0 : registry.leavingAt(wallet),
                policyVersion: ledger.policyVersion(orgId)
            })
        );
        assembly ("memory-safe") {
            return(add(answer, 0x20), mload(answer))
        }
    }
}
