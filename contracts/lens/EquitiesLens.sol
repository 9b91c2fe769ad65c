// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {IEquityToken} from "../interfaces/IEquityToken.sol";

/**
 * @title For many equities at once: which are frozen for an owner, and the owner's balances.
 *
 * @dev Never deployed, see {WalletLens}. One call covers all symbols, of the hundred calls that nodes accept in a
 * batch. The answer has the form of deployed code, so it may have 24,576 bytes (EIP-170): two words for each symbol.
 */
contract EquitiesLens {
    constructor(IEquityToken token, address owner, bytes32[] memory symbols) {
        bool[] memory frozen = new bool[](symbols.length);
        uint256[] memory balances = new uint256[](symbols.length);
        for (uint256 i = 0; i < symbols.length; i++) {
            frozen[i] = token.isFrozen(symbols[i], owner);
            balances[i] = token.balanceOf(owner, symbols[i]);
        }
        bytes memory answer = abi.encode(frozen, balances);
        assembly ("memory-safe") {
            return(add(answer, 0x20), mload(answer))
        }
    }
}
