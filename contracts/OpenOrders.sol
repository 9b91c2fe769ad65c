// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";

import {IOrderEscrow} from "./interfaces/IOrderEscrow.sol";

/// @title Base of the escrow: counts of the open orders, of all, of each account and of each institution.
abstract contract OpenOrders is IOrderEscrow {
    /// @dev In one slot. `escrowed` is in USDC.
    struct Totals {
        uint64 openOrders;
        uint24 institutions;
        uint168 escrowed;
    }

    /// @dev `number` counts institutions from 1 in the order of their first orders. By it, an order needs no slot for the name.
    struct Institution {
        uint24 number;
        uint232 openOrders;
    }

    Totals private _totals;

    /// @dev One more than the account's open orders. A slot that is emptied and written anew costs 12,300 more than it returns.
    mapping(address account => uint256) private _openOrdersBy;

    /// @dev Zero has the orders of accounts in no institution.
    mapping(bytes32 orgId => Institution) private _institutions;

    mapping(uint24 number => bytes32 orgId) internal _orgIds;

    /// @inheritdoc IOrderEscrow
    function openOrders() external view returns (uint256) {
        return _totals.openOrders;
    }

    /// @inheritdoc IOrderEscrow
    function openOrdersBy(address account) public view returns (uint256) {
        return Math.saturatingSub(_openOrdersBy[account], 1);
    }

    /// @inheritdoc IOrderEscrow
    function openOrdersOf(bytes32 orgId) external view returns (uint256) {
        return _institutions[orgId].openOrders;
    }

    /// @inheritdoc IOrderEscrow
    function escrowed() public view returns (uint256) {
        return _totals.escrowed;
    }

    /// @dev Counts an opened order, and returns its institution's number.
    function _countOpened(address account, bytes32 orgId, uint256 inUsdc) internal returns (uint24 number) {
        Totals memory totals = _totals;
        number = _institutions[orgId].number;
        if (number == 0) {
            number = ++totals.institutions;
            _orgIds[number] = orgId;
        }
        _institutions[orgId] = Institution(number, _institutions[orgId].openOrders + 1);
        _totals = Totals(totals.openOrders + 1, totals.institutions, SafeCast.toUint168(totals.escrowed + inUsdc));
        _openOrdersBy[account] = openOrdersBy(account) + 2;
    }

    /// @dev Takes an order that ends out of the counts.
    function _countEnded(address account, uint24 number, uint256 inUsdc) internal {
        Totals memory totals = _totals;
        _totals = Totals(totals.openOrders - 1, totals.institutions, SafeCast.toUint168(totals.escrowed - inUsdc));
        _institutions[_orgIds[number]].openOrders--;
        _openOrdersBy[account]--;
    }
}
