//! Vectors of a group, one behind the other, to be compared with all.

use crate::sizes::allocated;
use signalbox_ports::cache::{Digest, Partition, vectors::dot};
use std::mem::size_of;

/// A search compares with all vectors of a group, so there is an end to how many it has in a shard.
pub(crate) const MOST_ROWS: u32 = 1024;

/// Blocks have 1, 2, 4 and so on rows, and from the seventh on this many, so that none is ever copied to grow.
const ROWS: u32 = 64;
/// Rows in all blocks before the first of full size.
const SMALL_ROWS: u32 = ROWS - 1;

/// Vectors that may be compared with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct GroupKey {
    pub(crate) partition: Partition,
    pub(crate) embedder: u16,
}

/// Vectors of length 1 and of one dimension, in no order.
#[derive(Debug)]
pub(crate) struct Group {
    dimensions: usize,
    rows: u32,
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    numbers: Box<[f32]>,
    owners: Box<[Digest]>,
}

impl Group {
    pub(crate) fn new(dimensions: usize) -> Self {
        Self { dimensions, rows: 0, blocks: Vec::new() }
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    pub(crate) fn owner(&self, row: u32) -> Option<Digest> {
        let (block, at) = place(row);
        self.blocks.get(block).and_then(|block| block.owners.get(at)).copied()
    }

    /// What one more vector would take.
    pub(crate) fn growth(&self) -> usize {
        let (block, at) = place(self.rows);
        if at > 0 { 0 } else { block_bytes(block, self.dimensions) }
    }

    /// What it takes besides its place in the table of groups.
    pub(crate) fn bytes(&self) -> usize {
        (0..self.blocks.len()).map(|block| block_bytes(block, self.dimensions)).sum()
    }

    /// Adds a vector, and says where it is.
    pub(crate) fn push(&mut self, owner: Digest, vector: &[f32]) -> u32 {
        let row = self.rows;
        let (block, at) = place(row);
        if block == self.blocks.len() {
            let rows = rows_of(block);
            let numbers = vec![0.0; rows * self.dimensions].into();
            self.blocks.reserve_exact(1);
            self.blocks.push(Block { numbers, owners: vec![Digest::default(); rows].into() });
        }
        self.write(block, at, owner, vector);
        self.rows += 1;
        row
    }

    /// Removes a vector; the last one takes its place. That one's owner, if it is another.
    pub(crate) fn remove(&mut self, row: u32) -> Option<Digest> {
        let last = self.rows.checked_sub(1)?;
        let (block, at) = place(last);
        let moved = (row != last).then(|| {
            let from = &self.blocks[block];
            let vector = from.numbers[at * self.dimensions..][..self.dimensions].to_vec();
            (from.owners[at], vector)
        });
        self.rows = last;
        if at == 0 {
            self.blocks.truncate(block);
            self.blocks.shrink_to_fit();
        }
        let (owner, vector) = moved?;
        let (block, at) = place(row);
        self.write(block, at, owner, &vector);
        Some(owner)
    }

    fn write(&mut self, block: usize, at: usize, owner: Digest, vector: &[f32]) {
        let block = &mut self.blocks[block];
        block.owners[at] = owner;
        block.numbers[at * self.dimensions..][..self.dimensions].copy_from_slice(vector);
    }

    /// Each vector's owner and its similarity to another.
    pub(crate) fn similarities<'a>(&'a self, to: &'a [f32]) -> impl Iterator<Item = (Digest, f32)> + 'a {
        let rows = self
            .blocks
            .iter()
            .flat_map(|block| block.owners.iter().copied().zip(block.numbers.chunks_exact(self.dimensions)));
        rows.take(self.rows as usize).map(|(owner, vector)| (owner, dot(vector, to).clamp(-1.0, 1.0)))
    }
}

/// Block of a row, and where in it.
fn place(row: u32) -> (usize, usize) {
    if row < SMALL_ROWS {
        let block = (row + 1).ilog2();
        return (block as usize, (row + 1 - (1 << block)) as usize);
    }
    let row = row - SMALL_ROWS;
    ((ROWS.ilog2() + row / ROWS) as usize, (row % ROWS) as usize)
}

fn rows_of(block: usize) -> usize {
    1 << block.min(ROWS.ilog2() as usize)
}

fn block_bytes(block: usize, dimensions: usize) -> usize {
    let rows = rows_of(block);
    allocated(rows * dimensions * size_of::<f32>())
        + allocated(rows * size_of::<Digest>())
        + allocated(size_of::<Block>())
}
