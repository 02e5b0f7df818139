#!/usr/bin/env python3
"""score.py FOLDER [CASE...]: scores `railwright stragglers --json` against FOLDER/TRUTH.json, one folder of traces for each case.

A case is named if every planted culprit is among `culprits` with its kind (rank, group, stage). Its cost is right if the culprits that
are expected together cost within 15% of the truth. Every other culprit is a false accusation. RAILWRIGHT is the program."""
import json, os, subprocess, sys

PROGRAM = os.environ.get('RAILWRIGHT', 'target/release/railwright')
WITHIN = 0.15
MOST_OFF = 0.02


def expected(case):
    """The planted culprits as (kind, ranks or stage)."""
    kind = case['kind']
    if kind == 'rank':
        return [('rank', frozenset([rank])) for rank in case['expected']]
    if kind == 'group':
        return [('group', frozenset(ranks)) for ranks in case['expected']]
    return [('stage', stage) for stage in case['expected']] if kind == 'stage' else []


def keys(culprit):
    """What a culprit of the report names."""
    if culprit['kind'] == 'rank':
        return [('rank', frozenset([rank])) for rank in culprit['ranks']]
    if culprit['kind'] == 'stage':
        return [('stage', culprit['stage'])]
    return [(culprit['kind'], frozenset(culprit['ranks']))]


def judge(report, case):
    """(named, cost of the named in ms, false accusations, whether the cause is one of those accepted)."""
    wanted, cost, false, causes = expected(case), 0.0, [], True
    found = set()
    for culprit in report['culprits']:
        hits = [key for key in keys(culprit) if key in wanted]
        if hits and len(hits) < len(keys(culprit)):
            false.append((culprit['kind'], culprit['stage'], culprit['ranks'], culprit['cause'], round(culprit['cost_s'] * 1e3, 3)))
        if hits:
            found.update(hits)
            cost += culprit['cost_s'] * 1e3
            causes = causes and (not case['causes'] or culprit['cause'] in case['causes'])
        else:
            false.append((culprit['kind'], culprit['stage'], culprit['ranks'][:4], culprit['cause'], round(culprit['cost_s'] * 1e3, 3)))
    return bool(wanted) and all(key in found for key in wanted), cost, false, causes


def main():
    folder, only = sys.argv[1], sys.argv[2:]
    truth = json.load(open(os.path.join(folder, 'TRUTH.json')))
    planted = named = priced = healthy = quiet = accused = 0
    for name, case in truth.items():
        if only and name not in only:
            continue
        done = subprocess.run([PROGRAM, 'stragglers', '--json', os.path.join(folder, name)], capture_output=True, text=True)
        try:
            report = json.loads(done.stdout)
        except ValueError:
            print(f'{name:22} no report (exit {done.returncode}): {done.stderr[:200]}')
            continue
        is_named, cost, false, cause = judge(report, case)
        true = case['cost_ms_per_step']
        if case['kind'] in ('rank', 'group', 'stage'):
            is_right = is_named and abs(cost - true) <= WITHIN * true
            planted, named, priced = planted + 1, named + is_named, priced + is_right
            mark = 'ok  ' if is_right and cause else 'COST' if is_named and not is_right else 'CAUS' if is_named else 'MISS'
        else:
            wanted = 'cannot_tell' if case['kind'] == 'cannot_tell' else 'none'
            is_quiet = report['verdict'] == wanted
            healthy, quiet = healthy + 1, quiet + is_quiet
            mark = 'ok  ' if is_quiet else 'BAD '
        accused += bool(false)
        off = report['replay_error']
        if abs(off) > MOST_OFF and report['verdict'] != 'cannot_tell':
            mark = 'GATE'
        print(f'{mark} {name:22} {report["verdict"]:12} replay {off:+.2%} step {case["step_ms"]:.2f} cost {cost:.3f} true {true:.3f}'
              f' exit {done.returncode}' + (f' reasons {report["reasons"]}' if report['reasons'] else '') + (f' FALSE {false}' if false else ''))
        if mark in ('CAUS',):
            print('      causes', [c['cause'] for c in report['culprits']])
    print(f'planted {planted}: named {named}, cost within 15% {priced}; healthy {healthy}: as expected {quiet}; jobs with false accusations {accused}')


main()
