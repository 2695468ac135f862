-- Plain SQL over whole numbers, the same text for every engine; in braces stands what engines call differently.
-- source (id, amount): the table. pads (inner_pad, outer_pad): the secret. state (person, charge): what was charged; others: the same by
-- other files.

-- name: participants
SELECT id, {hash} AS person, CAST({worst} AS BIGINT) AS charge, CAST(0 AS BIGINT) AS cells
FROM (SELECT DISTINCT id FROM source WHERE id IS NOT NULL) AS named CROSS JOIN pads

-- name: contributions
SELECT id, {hash} AS person, cells, (high * {price} + low_part + 1048575) {div} 1048576 AS charge
FROM (
    SELECT id, cells, (cells * cells) {div} 1048576 AS high,
        (((cells * cells) % 1048576) * {price} + 1048575) {div} 1048576 AS low_part
    FROM (
        SELECT id, CAST(CASE WHEN total > {most} THEN {most} WHEN total < -{most} THEN -{most} ELSE total END AS BIGINT)
            AS cells
        FROM (
            SELECT id, SUM(
                CASE WHEN amount IS NULL OR isnan(amount) THEN CAST(0 AS BIGINT)
                    WHEN amount * {scale} >= {most} THEN CAST({most} AS BIGINT)
                    WHEN amount * {scale} <= -{most} THEN CAST(-{most} AS BIGINT)
                    ELSE CAST(FLOOR(amount * {scale} + 0.5) AS BIGINT) END
            ) AS total
            FROM source WHERE id IS NOT NULL GROUP BY id
        ) AS summed
    ) AS clipped
) AS parts CROSS JOIN pads

-- name: decided
SELECT id, charges.person AS person, charge, cells, (COALESCE(spent, 0) + charge <= {limit}) AS admitted
FROM charges LEFT JOIN (
    SELECT person, SUM(charge) AS spent FROM state
    WHERE person IN (SELECT person FROM charges) GROUP BY person
) AS before ON charges.person = before.person

-- name: delta_of_skip
SELECT person, charge, admitted FROM decided WHERE admitted

-- name: delta_of_halt
SELECT person, charge, admitted FROM decided

-- name: snapshot
SELECT person, CAST(SUM(charge) AS BIGINT) AS charge, FALSE AS admitted
FROM state WHERE charge > 0 GROUP BY person

-- name: recorded
SELECT id, cells FROM charges JOIN delta ON charges.person = delta.person
WHERE delta.admitted AND charges.charge <= delta.charge

-- name: overspent
SELECT COUNT(*) FROM (
    SELECT person FROM state WHERE admitted GROUP BY person HAVING SUM(charge) > {limit}
) AS over

-- name: differing
SELECT COUNT(*) FROM (
    SELECT person FROM (
        SELECT person, charge FROM state UNION ALL SELECT person, -charge AS charge FROM others
    ) AS both_of_them
    GROUP BY person HAVING SUM(charge) <> 0
) AS wrong

-- name: exhausted
SELECT COALESCE(SUM(CASE WHEN spent > {most} THEN 1 ELSE 0 END), 0), COUNT(*) FROM (
    SELECT person, SUM(charge) AS spent FROM state WHERE charge > 0 GROUP BY person
) AS everybody
